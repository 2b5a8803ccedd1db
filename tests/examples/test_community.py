from __future__ import annotations

import numpy as np
import pytest

import plackett as pk
from community import CommunityFeatures, _Background, graded_by_votes, read_posts
from plackett._base.errors import DataError
from plackett.applications import Application, CandidateLists

POSTS = """<?xml version="1.0" encoding="utf-8"?>
<posts>
  <row Id="1" PostTypeId="1" AcceptedAnswerId="3" CreationDate="2020-01-01" Score="5"
       Body="&lt;p&gt;What is it?&lt;/p&gt;"
       OwnerUserId="8" Title="Nets?" Tags="&lt;nets&gt;&lt;deep&gt;" />
  <row Id="2" PostTypeId="2" ParentId="1" CreationDate="2020-01-02" Score="-2"
       Body="&lt;p&gt;No &amp;amp; no.&lt;/p&gt;" />
  <row Id="3" PostTypeId="2" ParentId="1" CreationDate="2020-01-03" Score="9" Body="A net." OwnerUserId="9" />
  <row Id="4" PostTypeId="2" ParentId="1" CreationDate="2020-01-03" Score="4" Body="Maybe." OwnerUserId="9" />
  <row Id="5" PostTypeId="5" Score="0" Body="tag text" />
  <row Id="6" PostTypeId="1" Score="0" Body="Alone?" Title="One" />
</posts>
"""


def test_posts_and_grades(tmp_path):
    pytest.importorskip("selectolax")
    path = tmp_path / "Posts.xml"
    path.write_bytes(b"\xef\xbb\xbf" + POSTS.encode())
    posts = read_posts(path)
    assert [post.id for post in posts] == [1, 2, 3, 4, 6]
    assert posts[0].tags == ("nets", "deep") and posts[0].accepted == 3 and posts[0].parent is None
    assert posts[1].text == "No & no." and posts[1].author is None
    lists = graded_by_votes(posts)
    assert lists.qids.tolist() == [1] and lists.labels.tolist() == [0, 3, 2] and lists.queries == ["Nets?"]
    assert graded_by_votes(posts, with_text=True).queries == ["Nets?\nWhat is it?"]
    with pytest.raises(DataError, match="4 answers"):
        graded_by_votes(posts, least_answers=4)
    path.write_text("<posts><row Id='x' PostTypeId='1'/></posts>")
    with pytest.raises(DataError, match=r"Posts.xml"):
        read_posts(path)
    path.write_text("not xml")
    with pytest.raises(DataError, match=r"Posts.xml"):
        read_posts(path)


def test_correlation_is_that_of_plain_loops():
    rng = np.random.default_rng(0)
    texts = [[f"w{i}" for i in rng.integers(0, 12, 5)] for _ in range(30)]
    background = _Background().fit(texts)
    question, answer = ["w1", "w2", "unknown"], ["w3", "w4", "w5", "w3"]
    sets = [set(text) for text in texts]
    web, information = [], []
    for q in ("w1", "w2"):
        for a in ("w3", "w4", "w5"):
            both, one, other = (sum(w <= s for s in sets) for w in ({q, a}, {q}, {a}))
            web.append(both / other ** (2 / 3))
            information.append(np.log(30 * both / (one * other)) if both else 0.0)
    assert background.correlation(question, answer) == pytest.approx((np.mean(web), np.mean(information)), rel=1e-5)
    assert background.correlation([], answer) == (0.0, 0.0)


def made(n=30):
    rng = np.random.default_rng(0)
    lists = []
    for _ in range(n):
        asked = [f"q{j}" for j in rng.integers(0, 40, 3)]
        noise = [" ".join(f"n{j}" for j in rng.integers(0, 40, 8)) for _ in range(3)]
        lists.append((" ".join(asked), [noise[0], noise[1], f"{noise[2]} {' '.join(asked[:2])}"], [0, 1, 3]))
    return CandidateLists.of(lists)


def test_features_rank_and_are_saved(tmp_path):
    lists = made()
    application = Application(features=CommunityFeatures(), ranker=pk.ListNet(alpha=0.01)).fit(lists.take(range(20)))
    test = lists.take(range(20, 30))
    scores = application.predict(test)
    assert (scores.reshape(10, 3).argmax(axis=1) == 2).mean() > 0.7
    application.save(tmp_path / "app")
    assert np.array_equal(Application.load(tmp_path / "app", features=CommunityFeatures).predict(test), scores)


def test_groups_can_be_left_out():
    lists = made(12)
    whole = CommunityFeatures().fit(lists).transform(lists).X
    part = CommunityFeatures(groups=("density",)).fit(lists).transform(lists).X
    assert np.array_equal(part[:, 15:19], whole[:, 15:19]) and not part[:, :15].any() and not part[:, 19:].any()
    with pytest.raises(DataError, match="'web'"):
        CommunityFeatures(groups=("web",)).fit(lists)


def test_translations_of_training_lists_come_from_other_lists():
    lists = made(12)
    features = CommunityFeatures(groups=("translation",))
    held, seen = features.fit_transform(lists, n_folds=3), features.transform(lists)
    assert not np.array_equal(held.X[:, 10:15], seen.X[:, 10:15])
    with pytest.raises(DataError, match="n_folds=1"):
        features.fit_transform(lists, n_folds=1)


def test_tags_of_newer_dumps_and_questions_without_answers(tmp_path):
    pytest.importorskip("selectolax")
    path = tmp_path / "Posts.xml"
    path.write_text(POSTS.replace("&lt;nets&gt;&lt;deep&gt;", "|nets|deep|"), encoding="utf-8")
    posts = read_posts(path)
    assert posts[0].tags == ("nets", "deep") and posts[1].tags == ()
    assert [len(posts) for posts in np.split(graded_by_votes(posts, least_answers=0).items, [3])] == [3, 0]


def test_texts_of_one_word_have_no_bigrams(tmp_path):
    lists = CandidateLists.of([("why", ["rain", "sun"], [1, 0]), ("who", ["moon", "star"], [0, 1])])
    features = CommunityFeatures()
    data = features.fit_transform(lists)
    column = features.names.index("translation: bigrams")
    assert (data.X[:, column] == 0).all() and (data.X[:, column - 1] < 0).all()
    loaded = CommunityFeatures.restore(features.state())
    assert (loaded.transform(lists).X == features.transform(lists).X).all()


def test_no_translation_is_learned_if_none_is_wanted():
    lists = CandidateLists.of([("why rain", ["rain falls", "sun"], [0, 0])])
    features = CommunityFeatures(groups=("similarity",))
    features.fit_transform(lists)
    assert not any("translation" in name for name in features.state())
    with pytest.raises(DataError, match="one fold"):
        CommunityFeatures().fit_transform(CandidateLists.of([("a b", ["c d"], [1]), ("a e", ["c f"], [0])]))
