from __future__ import annotations

import pickle

import numpy as np
import pytest

import plackett as pk
from plackett.measures import custom, language, parse


@pytest.fixture(autouse=True)
def clean():
    """Names that a test registers are gone afterwards."""
    before = dict(language._registered)
    yield
    language._registered.clear()
    language._registered.update(before)


def lists(seed=0, n_queries=50):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 12, n_queries)
    qid = np.repeat(np.arange(n_queries), sizes)
    return rng.integers(0, 3, qid.size).astype(float), rng.normal(size=qid.size), qid


@pytest.mark.parametrize("compiled", [True, False])
def test_equals_the_built_in_measure(compiled):
    @custom.measure(name="MyPrecision", compiled=compiled)
    def precision(labels, k):
        if not (labels >= 1).any():
            return np.nan
        return (labels[:k] >= 1).sum() / k

    labels, scores, qid = lists()
    result = pk.evaluate(labels, scores, ["MyPrecision@3", "P@3", precision, "P"], qid=qid)
    np.testing.assert_allclose(result.values["MyPrecision@3"], result.values["P@3"])
    np.testing.assert_allclose(result.values["MyPrecision"], result.values["P"])
    skipped = pk.evaluate(labels, scores, [precision(empty="skip") @ 3, "P(empty='skip')@3"], qid=qid)
    np.testing.assert_allclose(*skipped.values.values())


def test_without_a_cutoff():
    @custom.measure
    def share(labels):
        return (labels > 0).mean()

    assert share.name == "share" and parse("share") == share
    assert pk.evaluate([1, 0], [2, 1], ["share"]).mean["share"] == 0.5
    with pytest.raises(pk.MeasureError, match="cut-off"):
        parse("share@3")


def test_ties_are_averaged():
    @custom.measure(compiled=False)
    def first(labels):
        return labels[0]

    value = pk.evaluate([1, 0, 0, 0], [1, 1, 1, 1], [first]).mean["first"]
    assert abs(value - 1 / 4) < 5 * np.sqrt(3 / 16 / 64)
    assert pk.evaluate([0, 1], [1, 1], ["first(ties='optimistic')"]).mean == {'first(ties="optimistic")': 1.0}


def test_what_numba_cannot_compile_runs_as_python():
    @custom.measure
    def odd(labels):
        return float(sum({str(label): label for label in labels}.values(), start=0) if open else 0)

    with pytest.warns(pk.PlackettWarning, match="odd runs as plain Python"):
        assert pk.evaluate([1, 2, 2], [3, 2, 1], [odd]).mean["odd"] == 3


def test_refusals():
    with pytest.raises(pk.MeasureError, match="already the name"):
        custom.measure(lambda labels: 0.0, name="nDCG")
    with pytest.raises(pk.MeasureError, match="labels, k"):
        custom.measure(lambda labels, k, z: 0.0, name="three")
    for wrong in (lambda y_true, y_score: 0.0, lambda labels, scores: 0.0, lambda k: 0.0, lambda *labels: 0.0):
        with pytest.raises(pk.MeasureError, match=r"a function of \(labels\) or \(labels, k\).*not given scores"):
            custom.measure(wrong, name="habit")
    with pytest.raises(pk.MeasureError, match="not a valid measure name"):
        custom.measure(lambda labels: 0.0)


def test_pickle_and_battery():
    from plackett.testing.measures import check_measure

    @custom.measure(bounds=(0, 1))
    def best_first(labels, k):
        if (labels < 0).all():
            return np.nan
        return 1.0 * (labels[:k].max() == labels.max()) if labels.size else 0.0

    assert pickle.loads(pickle.dumps(best_first @ 3)) == best_first @ 3
    check_measure(best_first)
    check_measure(best_first @ 2)


@pytest.mark.filterwarnings("ignore:silent runs as plain Python")
@pytest.mark.parametrize("compiled", [True, False])
def test_a_function_that_returns_no_number_is_named(compiled):
    @custom.measure(name="Forgetful", compiled=compiled)
    def forgetful(labels):
        if labels[0] > 0:
            return 1.0
        return None

    @custom.measure(name="Silent", compiled=compiled)
    def silent(labels):
        labels.sum()

    assert pk.evaluate([1, 0], [2, 1], [forgetful]).mean["Forgetful"] == 1.0
    for measure in (forgetful, silent):
        with pytest.raises(pk.MeasureError, match=f"{measure.name} returned None for a query of 2 documents"):
            pk.evaluate([1, 0, 0, 1], [2, 1, 2, 1], [measure], qid=[1, 1, 2, 2])


@pytest.mark.parametrize("compiled", [True, False])
def test_nan_of_a_query_with_relevant_documents_needs_a_rule(compiled):
    @custom.measure(name="Ratio", compiled=compiled)
    def ratio(labels):
        return labels[0] / labels[1] if labels[1] > 0 else np.nan

    labels, scores, qid = [2, 1, 1, 0, 0, 0], [2, 1, 2, 1, 2, 1], ["a", "a", "b", "b", "c", "c"]
    with pytest.raises(pk.MeasureError, match="Ratio returned NaN for 1 of 3 queries .* query b"):
        pk.evaluate(labels, scores, ["Ratio"], qid=qid)
    result = pk.evaluate(labels, scores, ["Ratio(empty=0)", 'Ratio(empty="skip")'], qid=qid).mean
    assert result == {"Ratio(empty=0)": 2 / 3, 'Ratio(empty="skip")': 2.0}
