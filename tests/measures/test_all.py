"""The battery on every measure of the catalogue, with default parameters and with others."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import plackett
from plackett._names.catalogue import items
from plackett.data.dataset import RankingDataset
from plackett.measures.ranking import Scored
from plackett.testing import checks
from plackett.testing.measures import check_definition, variants
from written_out.measures import DEFINITIONS, MEANS

#: Labels and scores of one query.
DOCUMENTS = st.lists(st.tuples(st.integers(-2, 4), st.integers(0, 5)), min_size=1, max_size=8)


@pytest.mark.parametrize(
    "check",
    [
        check
        for measure in plackett.measures().values()
        for variant in variants(measure)
        for check in checks(variant, definition=DEFINITIONS.get(variant.name))
    ],
    ids=str,
)
def test_battery(check):
    check()


def test_every_measure_is_written_out_a_second_time():
    missing = {item.name for item in items("measure")} - set(DEFINITIONS)
    assert not missing, "write the definition in tests/written_out/measures.py"


#: Parameters whose values other rules than the definition cannot tell apart.
MORE = [
    "alpha_nDCG(alpha=0)",
    "alpha_nDCG(alpha=0.3)@3",
    'alpha_nDCG(ideal="full")',
    'alpha_nDCG(ideal="full", alpha=0)@3',
    'alpha_nDCG(ideal_ties="docid")',
    'AP_IA(missing="renormalise")',
    'ERR_IA(missing="renormalise")@3',
    "ERR_IA(alpha=0.3)",
    "ERR_IA(scaled=True)",
    "ERR_IA(scaled=True, alpha=0.3)@3",
    'GAP(thresholds="exp2")@3',
    "GAP(thresholds=(0.1, 0.0, 0.6, 0.3))",
    "KendallTau(corrected=True)",
    "NRBP(alpha=0.3)",
    "NRBP(normalised=True)",
    'NRBP(normalised=True, ideal_ties="docid")',
    'RC(weight="sample")',
    "Spearman(corrected=True)",
]


@pytest.mark.parametrize("measure", MORE)
def test_definition_of_further_parameters(measure):
    parsed = plackett.measures.parse(measure)
    check_definition(parsed, np.random.default_rng(0), DEFINITIONS[parsed.name])


@pytest.mark.parametrize("name", MEANS)
def test_means_that_are_none(name):
    measure = plackett.measures()[name]
    values = np.array([0.5, np.nan, 0.0, 2.0, 1.0])
    np.testing.assert_allclose(measure.mean(values), MEANS[name]([0.5, 0.0, 2.0, 1.0]), rtol=1e-12)


@pytest.mark.parametrize("measure", list(plackett.measures().values()), ids=str)
@given(lists=st.lists(DOCUMENTS, min_size=1, max_size=4))
@settings(max_examples=25, deadline=None)
def test_properties(measure, lists):
    """Values depend on the list alone: not on other lists, nor on the scale of the scores."""
    labels = np.array([label for one in lists for label, _ in one], float)
    scores = np.array([score for one in lists for _, score in one], float)
    qid = np.repeat(np.arange(len(lists)), [len(one) for one in lists])
    subtopics = (np.arange(labels.size)[:, None] % np.array([2, 3]) == 0) * np.maximum(labels, 0)[:, None]
    if hasattr(measure, "max_label"):
        measure = measure(max_label=4)
    measure = measure(empty="skip")

    def values(rows, s):
        data = RankingDataset.from_arrays(None, labels[rows], qid[rows], subtopics=subtopics[rows])
        return measure.per_query(Scored(data, data.from_input_order(s[rows])))

    together = values(np.arange(labels.size), scores)
    np.testing.assert_array_equal(values(np.arange(labels.size), 3 * scores - 7), together)
    alone = [values(np.flatnonzero(qid == q), scores)[0] for q in range(len(lists))]
    np.testing.assert_array_equal(alone, together)
    low, high = measure.bounds
    kept = together[~np.isnan(together)]
    assert (kept >= low - 1e-12).all() and (kept <= high + 1e-12).all()
