"""QuickRank's XML: hand-written files with scores worked out by hand, and damaged ones."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import plackett as pk
from plackett._load import foreign_reader
from plackett.export.quickrank import _ALGORITHMS, read_quickrank

#: As pugixml writes it: tabs, no declaration.
TREES = """<ranker>
\t<info>
\t\t<type>LAMBDAMART</type>
\t\t<trees>2</trees>
\t\t<leaves>10</leaves>
\t\t<shrinkage>0.1</shrinkage>
\t\t<max_features>1</max_features>
\t</info>
\t<ensemble>
\t\t<tree id="1" weight="0.1">
\t\t\t<split>
\t\t\t\t<feature>2</feature>
\t\t\t\t<threshold>0.1</threshold>
\t\t\t\t<split pos="left">
\t\t\t\t\t<output>0.10000000000000001</output>
\t\t\t\t</split>
\t\t\t\t<split pos="right">
\t\t\t\t\t<output>-3.2000000000000002</output>
\t\t\t\t</split>
\t\t\t</split>
\t\t</tree>
\t\t<tree id="2" weight="0.5">
\t\t\t<split>
\t\t\t\t<output>1</output>
\t\t\t</split>
\t\t</tree>
\t</ensemble>
</ranker>
"""
ROWS = np.array([[9.0, 0.1], [9.0, 0.2], [9.0, -1.0]], np.float32)


def written(tmp_path, text):
    path = tmp_path / "model.xml"
    path.write_text(text)
    return path


@pytest.mark.parametrize("kind", [kind for kind, entry in _ALGORITHMS.items() if entry[2].__name__ == "_trees"])
def test_trees_by_hand(tmp_path, kind):
    """Outputs and weights are float64, thresholds float32: 0.1 of a float32 table is at most 0.1 of the file."""
    path = written(tmp_path, TREES.replace("LAMBDAMART", kind))
    ranker = read_quickrank(path)
    np.testing.assert_allclose(ranker.predict(ROWS), [0.5 + 0.01, 0.5 - 0.32, 0.5 + 0.01], rtol=1e-15)
    assert type(ranker).__name__ == _ALGORITHMS[kind][1] and ranker.n_estimators == 2
    assert pk.load(path).predict(ROWS).tolist() == ranker.predict(ROWS).tolist()
    assert read_quickrank(path, n_features=5).n_features_in_ == 5


def test_linear_models_by_hand(tmp_path):
    info = "<info><type>{}</type><max-iterations>7</max-iterations></info>"
    features = '<model><feature id="1" weight="0.25" /><feature id="2" weight="-2"/></model>'
    ranker = read_quickrank(written(tmp_path, f"<ranker>{info.format('COORDASC')}{features}</ranker>"))
    rows = [[4.0, 1.0], [0.0, 3.0]]
    assert ranker.predict(rows).tolist() == [1.0 - 2.0, -6.0] and ranker.max_iter == 7
    couples = "<ensemble><tree><index>2</index><weight>-2</weight></tree></ensemble>"
    path = written(tmp_path, f'<?xml version="1.0"?>\n<ranker>{info.format("LINESEARCH")}{couples}</ranker>')
    assert pk.load(path).predict(rows).tolist() == [-2.0, -6.0]


def test_weak_rankers_by_hand(tmp_path):
    """Features count from 0 there; the sign -1 prefers values below the threshold."""
    weak = (
        "<weakranker><id>{}</id><featureid>{}</featureid><theta>{}</theta><sign>{}</sign><alpha>{}</alpha></weakranker>"
    )
    body = weak.format(0, 1, 0.5, 1, 2.0) + weak.format(1, 0, -1.5, -1, 0.25)
    head = "<info><type>RANKBOOST</type><maxweakrankers>9</maxweakrankers></info>"
    ranker = read_quickrank(written(tmp_path, f"<ranker>{head}<ensemble>{body}</ensemble></ranker>"))
    rows = np.array([[-1.5, 0.5], [-1.6, 0.5], [-1.5, 0.6], [-2.0, 0.6], [np.nan, np.nan]], np.float32)
    assert ranker.predict(rows).tolist() == [0.0, 0.25, 2.0, 2.25, 0.0] and ranker.n_estimators == 9


BOMB = """<?xml version="1.0"?>
<!DOCTYPE ranker [<!ENTITY a "aaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>
<ranker><info><type>&b;</type></info></ranker>
"""


@pytest.mark.parametrize(
    ("match", "text"),
    [
        ("expected a tag", BOMB),
        (":2: unsupported model type 'METACLEAVER'", TREES.replace("LAMBDAMART", "METACLEAVER")),
        (":2: unsupported model type ''", TREES.replace("<type>LAMBDAMART</type>", "")),
        (":12: expected a feature number", TREES.replace("<feature>2", "<feature>0")),
        (":13: expected a threshold", TREES.replace("<threshold>0.1", "<threshold>nan")),
        (":10: expected the weight of the tree", TREES.replace('weight="0.1"', 'weight="&lt;"').replace("&lt;", "x")),
        ("expected a tag", TREES.replace('weight="0.1"', 'weight="&lt;"')),
        ("ends inside", TREES[:300]),
        ("no <tree>", TREES[: TREES.index("<tree id")] + "</ensemble></ranker>"),
        ("expected <ranker>", "<model></model>"),
        ("uses feature 2, and n_features=1", TREES),
    ],
)
def test_damaged_files_are_refused(tmp_path, match, text):
    with pytest.raises(ValueError, match=match):
        read_quickrank(written(tmp_path, text), n_features=1)


def test_nested_deeply(tmp_path):
    deep = "<split>" + '<feature>1</feature><threshold>0</threshold><split pos="left">' * 5000
    text = TREES[: TREES.index("\t\t\t<split>")] + deep
    with pytest.raises(ValueError, match="deeper than"):
        read_quickrank(written(tmp_path, text))


@given(place=st.integers(0, len(TREES)), gone=st.integers(0, 20), new=st.text('<>/="&ae1-. \n', max_size=6))
def test_any_damage_is_a_model_or_an_error_of_ours(tmp_path_factory, place, gone, new):
    path = tmp_path_factory.getbasetemp() / "quickrank.xml"
    path.write_text(TREES[:place] + new + TREES[place + gone :])
    try:
        scores = read_quickrank(path, n_features=9).predict(np.zeros((1, 9)))
    except pk.DataError:
        return
    assert np.isfinite(scores).all()


def test_load_knows_it(tmp_path):
    for text in (TREES, '<?xml version="1.0"?>\n' + TREES, "<ranker><info>"):
        assert foreign_reader(written(tmp_path, text)) is read_quickrank
