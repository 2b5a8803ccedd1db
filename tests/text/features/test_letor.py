from __future__ import annotations

import numpy as np
import pytest

from plackett import DataError
from plackett.data.letor import read_letor
from plackett.text import Document, Index, Link
from plackett.text.features.feature_set import FeatureSet
from plackett.text.features.letor import gov2_features, gov_features, ohsumed_features
from plackett.text.features.letor_meta import features_of_meta, read_letor_meta

STREAMS = ["title", "abstract", "all"]


@pytest.fixture(scope="module")
def ohsumed(data_dir):
    """The meta data, and published values by query and document: of Feature-null and of Feature-min."""
    folder = data_dir / "LETOR3.0-OHSUMED"
    meta = data_dir / "LETOR3.0-OHSUMED-Meta"
    result: dict[str, dict[tuple[str, str], np.ndarray]] = {}
    for version in ("Feature-null", "Feature-min"):
        values = result.setdefault(version, {})
        for part in range(1, 6):
            data = read_letor(folder / version / f"S{part}.txt", missing="nan")
            qid = np.repeat(data.qids, np.diff(data.offsets))
            values.update({(str(q), str(d)): x for q, d, x in zip(qid, data.docids, data.X, strict=True)})
    return list(read_letor_meta(meta)), result


@pytest.mark.parametrize(("version", "missing"), [("Feature-null", "null"), ("Feature-min", "min")])
def test_ohsumed_from_its_meta_data(ohsumed, version, missing):
    """Every cell of the published files, the missing ones too; they have six decimals."""
    metas, published = ohsumed
    pairs = 0
    for meta in metas:
        rows = [i for i, docid in enumerate(meta.docids) if (meta.qid, docid) in published[version]]
        expected = np.array([published[version][meta.qid, meta.docids[i]] for i in rows])
        result = features_of_meta(meta, ohsumed_features(STREAMS), STREAMS, missing=missing)[rows]
        np.testing.assert_array_equal(np.isnan(result), np.isnan(expected))
        np.testing.assert_allclose(result, expected, rtol=2e-6, atol=2e-6)
        pairs += len(rows)
    assert pairs == 16_140


def test_other_folders_are_rejected(tmp_path):
    with pytest.raises(DataError, match="collectioninfo"):
        next(read_letor_meta(tmp_path))
    (tmp_path / "collectioninfo.xml").write_text("<collectioninfo><docnum>1</docnum>")
    with pytest.raises(DataError, match=r"collectioninfo\.xml"):
        next(read_letor_meta(tmp_path))


def web():
    rng = np.random.default_rng(0)
    tokens = [f"w{i}" for i in range(12)]
    text = lambda n: " ".join(rng.choice(tokens, n))  # noqa: E731
    urls = ["http://a.org/", "http://a.org/b/", "http://a.org/b/c.html", "http://d.org/", "http://d.org/e.html"]
    documents = [
        Document(
            str(i),
            {"body": text(20), "anchor": text(3), "title": text(4), "url": url},
            tuple(Link(str(j)) for j in range(5) if j != i and rng.random() < 0.5),
        )
        for i, url in enumerate(urls)
    ]
    return Index.build(documents)


def test_the_web_sets():
    index = web()
    pairs = ["w0 w3", "w5"], [0, 5, 10], [*range(5), *range(5)]
    gov = FeatureSet(gov_features(extracted_title="title"))
    gov2 = FeatureSet(gov2_features())
    ohsumed = FeatureSet(ohsumed_features(("title", "body", "all")))
    assert (len(gov), len(gov2), len(ohsumed)) == (64, 46, 45)
    for features in (gov, gov2, ohsumed):
        assert [int(name.split()[0]) for name in features.names] == list(range(1, len(features) + 1))
    X = gov.matrix(index, *pairs)
    assert X.shape == (10, 64)
    assert np.isfinite(X).all()
    same = [*range(40), 50, 55, 56, 57, 58, 59]
    np.testing.assert_array_equal(X[:, same], gov2.matrix(index, *pairs))
    # the whole document is the concatenation of the four streams
    np.testing.assert_array_equal(X[:, 4], X[:, 0] + X[:, 1] + X[:, 2] + X[:, 3])
    # query features are constant within a query, document features across queries
    assert (np.ptp(X[:5, 5:10], axis=0) == 0).all()
    documents = [*range(15, 20), *range(48, 52), *range(55, 60)]
    np.testing.assert_array_equal(X[:5, documents], X[5:, documents])
    # without topics the topical forms are the plain ones
    np.testing.assert_allclose(X[:, 52], X[:, 50], rtol=1e-5)
    np.testing.assert_allclose(X[:, [53, 54]], X[:, [48, 49]], rtol=1e-5)
    # the title stands for the extracted one
    np.testing.assert_array_equal(X[:, 60:64], X[:, [22, 27, 32, 37]])


def test_topics_change_topical_features():
    index = web()
    topics = np.eye(5)[:, :3] + 0.1
    pairs = ["w0 w3"], [0, 5], range(5)
    plain = FeatureSet(gov_features(extracted_title="title")).matrix(index, *pairs)
    topical = FeatureSet(gov_features(extracted_title="title", topics=topics)).matrix(index, *pairs)
    changed = np.flatnonzero((plain != topical).any(axis=0))
    assert set(changed) == {52, 53, 54}
