from __future__ import annotations

import numpy as np
import pytest

import plackett as pk
from plackett._base.errors import DataError
from plackett.applications import Application, CandidateLists
from why import Passage, WhyFeatures


def values(question, passage, **settings):
    lists = CandidateLists.of([(question, [passage, "other"])])
    data = WhyFeatures(**settings).fit(lists).transform(lists)
    return dict(zip(data.feature_names, data.X[0].tolist(), strict=True))


def test_there_are_37():
    assert len(WhyFeatures.names) == len(set(WhyFeatures.names)) == 37


def test_parts_of_the_question():
    result = values("Why are famous cats chased?", "Cats sleep. Famous dogs chased cars because they are bored.")
    assert result["words in passage"] == 1.0 and result["verbs in same part"] == 1.0
    assert result["focus in passage"] == 1.0  # famous cats
    assert result["adjectives in same part"] == 0.0  # at the start of a sentence "Famous" looks like a name
    assert result["cue words"] == 0.5
    assert result["words in first sentence"] == pytest.approx(1 / 3)
    assert result["words in title"] == result["words in heading"] == 0.0
    assert result["relatedness"] == 1.0
    assert 0 < result["tf-idf"] < 1


def test_synonyms_and_structure():
    passage = Passage("Felines hunt rodents.", "About cats", "Mice and men")
    plain = values("Why do cats chase mice?", passage)
    wide = values(
        "Why do cats chase mice?", passage, synonyms={"cat": ["feline"], "mice": ["rodents"], "chase": ["hunt"]}
    )
    assert plain["words in passage, synonyms"] == plain["words in passage"] == 0.0
    assert wide["words in passage, synonyms"] == 1.0 and wide["relatedness"] == 0.5
    assert wide["words in passage"] == 0.0
    assert plain["words in title"] == pytest.approx(1 / 3) and plain["words in heading"] == pytest.approx(1 / 3)
    related = values("Why do cats chase mice?", passage, relatedness=lambda a, b: 0.25)
    assert related["relatedness"] == 0.25


def test_explanations_are_preferred_and_saved(tmp_path):
    rng = np.random.default_rng(0)
    lists = []
    for i in range(30):
        thing, noise = f"thing{i}", " ".join(f"w{j}" for j in rng.integers(0, 40, 6))
        lists.append(
            (f"Why does {thing} fall?", [f"Some {thing} fall {noise}.", f"{thing} does {noise} because of it."], [0, 1])
        )
    judged = CandidateLists.of(lists)
    application = Application(features=WhyFeatures(), ranker=pk.RankSVM(C=0.1), measures=("RR",))
    application.fit(judged.take(range(20)))
    test = judged.take(range(20, 30))
    scores = application.predict(test)
    assert (scores.reshape(10, 2).argmax(axis=1) == 1).all()
    application.save(tmp_path / "app")
    assert np.array_equal(Application.load(tmp_path / "app", features=WhyFeatures).predict(test), scores)


def test_odd_input():
    result = values("", "")
    assert not any(result.values())
    assert all(np.isfinite(list(values("Why?", Passage("?", "", "")).values())))
    with pytest.raises(DataError, match="not trained"):
        WhyFeatures().transform(CandidateLists.of([("a", ["b"])]))


def test_a_cue_word_counts_before_any_mark():
    assert values("Why rain?", "That is the reason.")["cue words"] == 1.0
    assert values("Why rain?", "It rains (because of clouds); hence: water!")["cue words"] == 1.0


@pytest.mark.parametrize("verb", ["do", "don't", "don’t", "won't", "CAN'T", "will"])
def test_the_auxiliary_verb_is_not_the_focus(verb):
    result = values(f"Why {verb} cats bark?", "Cats bark.")
    assert result["focus in passage"] == result["words in passage"] == 1.0
