"""The battery on every measure of the catalogue, with default parameters and with others."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import plackett
from checks import CHECKS
from plackett.data.dataset import RankingDataset
from plackett.measures.ranking import Scored

#: Values other than the default for the parameters that measures have, each tried alone.
OTHERS = {
    "k": [1, 3, 7],
    "rel": [2.0],
    "gain": ["linear", "binary", {0: 0.5, 1: 3, 2: 1}],
    "discount": ["letor", "reciprocal", (1.0, 0.5)],
    "short": ["zero", "list"],
    "over": ["all"],
    "divisor": ["reachable"],
    "relative": [True],
    "beta": [2.0],
    "mult": [0.4, 2.0],
    "p": [0.5],
    "max_label": [5.0],
    "reach": ["nearest"],
    "recall": [0.0, 0.3, 1.0],
    "levels": [(0.25, 0.5)],
    "a": [2.0],
    "c": [-1.0],
}


#: Labels and scores of one query.
DOCUMENTS = st.lists(st.tuples(st.integers(-2, 4), st.integers(0, 5)), min_size=1, max_size=8)


def variants():
    for measure in plackett.measures().values():
        yield measure
        for field in dataclasses.fields(measure):
            for value in OTHERS.get(field.name, []):
                try:
                    yield measure(**{field.name: value})
                except ValueError:
                    continue  # the same word takes other values there


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("measure", list(variants()), ids=str)
def test_battery(measure, check):
    check(measure, np.random.default_rng(0))


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
