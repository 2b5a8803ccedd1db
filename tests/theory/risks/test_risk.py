"""Risks against plain loops, exact expectations and closed forms."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest

import plackett as pk
from plackett.losses import Exponential, Hinge, ListMLELoss, ListNetLoss, Logistic, Square
from plackett.theory.risks.associate_losses import as_associate_loss
from plackett.theory.risks.document_zero_one import DocumentZeroOne
from plackett.theory.risks.finite_world import FiniteWorld
from plackett.theory.risks.pair_zero_one import PairZeroOne
from plackett.theory.risks.planted_world import PlantedWorld
from plackett.theory.risks.query_level import query_level_losses, risk_levels
from plackett.theory.risks.risk import Risk, risk_standard_error

PHI = {
    "hinge": (Hinge(), lambda z: max(0.0, 1 - z)),
    "exponential": (Exponential(), lambda z: math.exp(-z)),
    "logistic": (Logistic(), lambda z: math.log1p(math.exp(-z))),
}


def made(sizes=(5, 9, 2, 7), seed=0, levels=3):
    """Labels and integer scores with many ties."""
    rng = np.random.default_rng(seed)
    qid = np.repeat(np.arange(len(sizes)), sizes)
    data = pk.RankingDataset.from_arrays(None, rng.integers(0, levels, qid.size), qid)
    return data, rng.integers(0, 5, qid.size).astype(float)


def queries(data):
    return [slice(a, b) for a, b in zip(data.offsets[:-1], data.offsets[1:], strict=True)]


def pair_sum(s, y, phi):
    """Sum over the pairs of unequal labels of phi(margin), by a plain loop; and how many they are."""
    margins = [
        (s[u] - s[v]) if y[u] > y[v] else (s[v] - s[u]) for u, v in combinations(range(len(s)), 2) if y[u] != y[v]
    ]
    return sum(phi(z) for z in margins), len(margins)


COSTS = {"none": 0.0, "half": 0.5, "loss": 1.0}
ZERO_ONE = {tie: (lambda z, c=cost: float(z < 0) + c * (z == 0)) for tie, cost in COSTS.items()}


def test_pointwise_risks_are_the_loops_and_weigh_queries_as_their_framework_says():
    data, s = made()
    values = 0.5 * (s - data.y) ** 2
    means = [values[r].mean() for r in queries(data)]
    assert Risk(Square(), "document")(s, data) == pytest.approx(values.mean())
    for framework in ("subset", "two-layer"):
        assert Risk(Square(), framework)(s, data) == pytest.approx(np.mean(means))
    # the document framework does not know queries: moving documents between them changes nothing
    other = pk.RankingDataset.from_arrays(None, data.y, np.roll(data.query_of_row, 3))
    assert Risk(Square(), "document")(s, data) == pytest.approx(
        Risk(Square(), "document")(other.from_input_order(s), other)
    )
    # a query all of whose documents are there twice counts as before in the others
    first = queries(data)[0]
    twice = pk.RankingDataset.from_arrays(
        None, np.concatenate([data.y, data.y[first]]), np.concatenate([data.qid, data.qid[first]])
    )
    scores = twice.from_input_order(np.concatenate([s, s[first]]))
    assert Risk(Square(), "two-layer")(scores, twice) == pytest.approx(Risk(Square(), "two-layer")(s, data))
    assert Risk(Square(), "document")(scores, twice) != pytest.approx(Risk(Square(), "document")(s, data))


@pytest.mark.parametrize("tie", ["none", "half", "loss"])
def test_document_pair_risks_are_the_loops(tie):
    data, s = made((60,))
    wrong, labelled = pair_sum(s, data.y, ZERO_ONE[tie])
    assert Risk("pairwise 0-1", "document", "u-statistic", tie=tie)(s, data) == pytest.approx(wrong / (60 * 59 / 2))
    assert Risk("pairwise 0-1", "document", "bipartite", tie=tie)(s, data) == pytest.approx(wrong / labelled)
    split, scores = made((4, 5))
    parts = [pair_sum(scores[r], split.y[r], ZERO_ONE[tie]) for r in queries(split)]
    observed = Risk("pairwise 0-1", "document", "average", tie=tie)(scores, split)
    assert observed == pytest.approx(sum(p[0] for p in parts) / sum(p[1] for p in parts))


@pytest.mark.parametrize("name", PHI)
def test_query_pair_risks_are_the_loops(name):
    loss, phi = PHI[name]
    data, s = made()
    parts = [(*pair_sum(s[r], data.y[r], phi), s[r].size) for r in queries(data)]
    for framework in ("subset", "two-layer"):
        complete = np.mean([total / (m * (m - 1) / 2) for total, _, m in parts])
        assert Risk(loss, framework, "u-statistic")(s, data) == pytest.approx(complete)
        labelled = np.mean([total / n for total, n, _ in parts if n])
        assert Risk(loss, framework, "average")(s, data) == pytest.approx(labelled)
    # a loss that divides by the pairs itself is not divided twice
    assert Risk(loss.replace(normalize=True))(s, data) == pytest.approx(Risk(loss)(s, data))


def test_every_query_weighs_one_over_n():
    data, s = made((3, 30))
    losses = query_level_losses("pairwise 0-1", s, data)
    assert Risk("pairwise 0-1", "subset", "average")(s, data) == pytest.approx(losses.mean())


def test_average_view_over_all_pairs_listed_once_is_the_u_statistic_up_to_label_ties():
    data, s = made((12,), levels=12)
    unequal = as_associate_loss("pairwise 0-1").associates.labelled(data)[0]
    listed = data.replace(preferences=pk.Preferences.from_labels(data, margin=False))
    average = Risk("pairwise 0-1", "document", "average")(s, listed)
    assert average * unequal / 66 == pytest.approx(Risk("pairwise 0-1", "document", "u-statistic")(s, data))
    few = data.replace(preferences=pk.Preferences.from_labels(data, margin=False).take(np.arange(5)))
    assert Risk("pairwise 0-1", "document", "average")(s, few) != pytest.approx(average)


def test_bipartite_risk_of_normal_scores_has_the_closed_form():
    from scipy.special import ndtr

    rng = np.random.default_rng(0)
    y = np.repeat([1.0, 0.0], 4000)
    s = rng.standard_normal(8000) + 1.3 * y
    data = pk.RankingDataset.from_arrays(None, y)
    risk = Risk("pairwise 0-1", "document", "bipartite")(s, data)
    assert risk == pytest.approx(ndtr(-1.3 / math.sqrt(2)), abs=4 * 0.006)
    assert risk == pytest.approx(1 - pk.evaluate(data, s, ["AUC"]).mean["AUC"])
    tied = pk.RankingDataset.from_arrays(None, [1, 1, 1, 0, 0])  # ties are credited to the ranker
    assert Risk("pairwise 0-1", "document", "bipartite")([0.9, 0.5, 0.5, 0.5, 0.1], tied) == 0


def test_listwise_risk_does_not_depend_on_how_documents_are_numbered():
    data, s = made()
    value = Risk(ListNetLoss(), "subset")(s, data)
    assert value == pytest.approx(ListNetLoss()(s, data) / 4)
    rng = np.random.default_rng(1)
    rows = np.concatenate([r.start + rng.permutation(r.stop - r.start) for r in queries(data)])
    shuffled = pk.RankingDataset.from_arrays(None, data.y[rows], data.qid[rows])
    assert Risk(ListNetLoss(), "subset")(s[rows], shuffled) == pytest.approx(value)
    assert Risk("nDCG@3", "subset")(s, data) == pytest.approx(1 - pk.evaluate(data, s, ["nDCG@3"]).mean["nDCG@3"])


def test_sub_lists_of_two_are_logistic_pairs_and_of_all_the_whole_list():
    data, s = made((6, 8), levels=9)
    pairs = Risk(Logistic(), "two-layer", "u-statistic")(s, data)
    assert Risk(ListMLELoss(), "two-layer", "sub-list", size=2)(s, data) == pytest.approx(pairs, rel=1e-12)
    one = data.select([0])
    whole = Risk(ListMLELoss(), "two-layer", "sub-list", size=6)(s[:6], one)
    assert whole == pytest.approx(Risk(ListMLELoss(), "subset")(s[:6], one))
    complete = Risk(ListMLELoss(), "two-layer", "sub-list", size=3)(s, data)
    far, near = (
        np.std(
            [
                Risk(ListMLELoss(), "two-layer", "sub-list", size=3, n_lists=t, random_state=i)(s, data) - complete
                for i in range(20)
            ]
        )
        for t in (5, 500)
    )
    assert near < 0.2 * far


@pytest.mark.parametrize(("name", "scale"), [("hinge", 1.0), ("exponential", 1.0), ("logistic", 1 / math.log(2))])
def test_surrogate_risks_bound_the_pair_errors_and_leave_label_ties_out(name, scale):
    loss, _ = PHI[name]
    data, s = made()
    for view in ("u-statistic", "average"):
        error = Risk("pairwise 0-1", "two-layer", view, tie="loss")(s, data)
        assert Risk(loss, "two-layer", view, scale=scale)(s, data) >= error
    perfect = 50.0 * data.y  # label ties add no constant: the risk of a perfect ranking tends to its infimum, 0
    assert Risk(loss, "two-layer", "u-statistic", scale=scale)(perfect, data) == pytest.approx(0, abs=1e-12)
    rng = np.random.default_rng(0)
    apart = s + 0.1 * rng.standard_normal(s.size)
    step = 1e-6 * rng.standard_normal(s.size)
    slope = (loss(apart + step, data) - loss(apart - step, data)) / 2
    assert slope == pytest.approx(loss.gradient(apart, data)[0] @ step, rel=1e-4)


def a_world():
    rng = np.random.default_rng(3)
    sizes = (3, 4, 2)
    return FiniteWorld(
        [rng.standard_normal((m, 2)) for m in sizes],
        [rng.integers(0, 3, m) for m in (3, 4)] + [np.array([1, 0])],
        [rng.random(m) + 0.1 for m in sizes],
        [0.5, 0.3, 0.2],
    )


def score(X):
    return X[:, 0] - 0.5 * X[:, 1]


@pytest.mark.parametrize(
    ("risk", "draw"),
    [
        (Risk(Square(), "document"), lambda w, i: w.sample_documents(10, random_state=i)),
        (Risk(Square(), "two-layer"), lambda w, i: w.sample(4, [2, 5, 3, 9], random_state=i)),
        (Risk("pairwise 0-1", "document", "u-statistic"), lambda w, i: w.sample_documents(10, random_state=i)),
        (Risk(Hinge(), "two-layer", "u-statistic"), lambda w, i: w.sample(4, [2, 5, 3, 9], random_state=i)),
        (Risk(Hinge(), "two-layer", "average"), lambda w, i: w.sample_pairs(4, 3, random_state=i)),
        (Risk(Logistic(), "subset", "u-statistic"), lambda w, i: w.sample_subsets(4, random_state=i)),
        (Risk(ListMLELoss(), "subset"), lambda w, i: w.sample_subsets(4, random_state=i)),
        (Risk(ListMLELoss(), "two-layer", "sub-list", size=3), lambda w, i: w.sample(3, 4, random_state=i)),
    ],
)
def test_empirical_risks_are_unbiased_for_the_exact_one(risk, draw):
    world = a_world()
    result = []
    for i in range(600):
        data = draw(world, i)
        result.append(risk(score(data.X), data))
    exact = world.expected(risk, score)
    assert np.mean(result) == pytest.approx(exact, abs=4.5 * np.std(result) / math.sqrt(len(result)))
    assert exact > 0.05 and np.std(result) > 0  # something to be wrong about


def test_pooling_is_biased_where_long_lists_are_hard():
    """A query with many documents that is always wrong, and one with few that is always right."""
    world = FiniteWorld([[[0.0], [1.0]], [[0.0], [1.0]]], [[0, 1], [1, 0]])
    s = lambda X: X[:, 0]  # noqa: E731
    exact = world.expected(Risk("pairwise 0-1", "two-layer", "average"), s)
    assert exact == 0.5
    data = world._dataset(np.array([0, 1]), [np.array([0, 1]), np.tile([0, 1], 10)])
    assert Risk("pairwise 0-1", "two-layer", "average")(s(data.X), data) == exact
    assert Risk("pairwise 0-1", "document", "average")(s(data.X), data) > 0.9


def test_losses_of_a_query_go_together_only_where_queries_differ():
    def correlation(query_noise):
        world = PlantedWorld(n_features=4, query_noise=query_noise, noise=0.3)
        data = world.sample(20_000, 2, random_state=0)
        s = np.asarray(data.X, float) @ world.direction
        wrong = ((s > 0.5) != (data.y > 0)).reshape(-1, 2)
        return np.corrcoef(wrong.T)[0, 1]

    assert abs(correlation(0.0)) < 0.021  # three standard errors of 20 000 pairs
    assert correlation(3.0) > 0.05


def test_standard_errors_are_the_deviations_of_fresh_samples():
    world = a_world()
    cases = [
        (Risk("pairwise 0-1", "document", "u-statistic"), lambda i: world.sample_documents(60, random_state=i)),
        (Risk("pairwise 0-1", "two-layer", "u-statistic"), lambda i: world.sample(40, 5, random_state=i)),
        (Risk(Square(), "document"), lambda i: world.sample_documents(60, random_state=i)),
    ]
    for risk, draw in cases:
        samples = [draw(i) for i in range(300)]
        values = [risk(score(d.X), d) for d in samples]
        errors = [risk_standard_error(risk, score(d.X), d) for d in samples[:60]]
        assert np.sqrt(np.mean(np.square(errors))) == pytest.approx(np.std(values), rel=0.2)
    # 1/m, not 1/m²: four times the documents halve the deviation of the U-statistic
    small, large = (
        np.std([cases[0][0](score(d.X), d) for d in (world.sample_documents(m, random_state=i) for i in range(300))])
        for m in (40, 160)
    )
    assert small / large == pytest.approx(2.0, rel=0.25)


def test_bipartite_standard_error_is_that_of_two_samples():
    def draw(i):
        rng = np.random.default_rng(i)
        y = np.repeat([1.0, 0.0], [20, 50])
        return rng.standard_normal(70) + y, pk.RankingDataset.from_arrays(None, y, np.zeros(70, int))

    risk = Risk("pairwise 0-1", "document", "bipartite")
    values = [risk(*draw(i)) for i in range(400)]
    errors = [risk.standard_error(*draw(i)) for i in range(60)]
    assert np.mean(errors) == pytest.approx(np.std(values), rel=0.15)


def test_one_interface_serves_documents_pairs_and_lists():
    data, s = made((4, 6))
    for loss in (Square(), Hinge(), ListNetLoss()):
        result = as_associate_loss(loss)
        counts = result.associates.labelled(data)
        assert query_level_losses(loss, s, data) * counts == pytest.approx(loss.bind(data).evaluate(s)[0])
    for loss in (Square(), Hinge()):
        assert Risk(loss)(s, data) == pytest.approx(query_level_losses(loss, s, data).mean())


def test_query_level_loss_tends_to_its_expectation():
    world = FiniteWorld([[[0.0], [1.0], [2.0]]], [[0, 1, 0]], [[0.2, 0.5, 0.3]])
    exact = world.expected(Risk(Square(), "two-layer"), lambda X: X[:, 0])
    miss = [
        abs(query_level_losses(Square(), d.X[:, 0], d)[0] - exact)
        for d in (world.sample(1, m, random_state=0) for m in (30, 300_000))
    ]
    assert miss[1] < 0.01 and miss[1] < miss[0]


def test_pair_level_minus_query_level_is_the_sum_of_the_parts():
    data, s = made((3, 9, 5, 1))
    result = risk_levels(Hinge(), s, data)
    assert result.parts.sum() == pytest.approx(result.associate_level - result.query_level)
    even, scores = made((4,) * 5, levels=4)
    even = even.replace(y=np.tile([3.0, 2, 1, 0], 5))  # as many pairs in each query
    equal = risk_levels(Hinge(), scores, even)
    assert equal.associate_level == pytest.approx(equal.query_level)


def test_true_losses_relate_as_they_should():
    from plackett.theory.risks.permutation_zero_one import PermutationZeroOne, TopKZeroOne

    rng = np.random.default_rng(0)
    n, m = 200, 5
    data = pk.RankingDataset.from_arrays(None, np.tile(np.arange(m), n), np.repeat(np.arange(n), m))
    s = data.y + rng.standard_normal(n * m) * np.repeat(rng.choice([0.2, 1.0, 3.0], n), m)
    top = np.array([TopKZeroOne(k).sums(s, data) for k in range(1, m + 1)])
    assert (np.diff(top, axis=0) >= 0).all()  # never less for a larger k
    whole = PermutationZeroOne().sums(s, data)
    assert (top[m - 2] == whole).all() and (top[m - 1] == whole).all()
    assert ((PairZeroOne().sums(s, data) == 0) == (whole == 0)).all()
    brute = [(np.argsort(-s[r])[:2] == np.argsort(-data.y[r])[:2]).all() for r in queries(data)]
    assert (top[1] == 1 - np.array(brute)).all()
    assert 0 < whole.mean() < 1
    wrong = (data.y >= 2) != (s >= 1.5)
    assert DocumentZeroOne(rel=2, threshold=1.5).sums(s, data).sum() == wrong.sum()


def test_what_does_not_exist_is_refused_with_what_does():
    with pytest.raises(pk.DataError, match="list.*subset/average, two-layer/sub-list"):
        Risk("nDCG", "document")
    with pytest.raises(pk.LossError, match="gradient without a value"):
        Risk(pk.losses.Lambda())
    with pytest.raises(pk.DataError, match="tie='some'"):
        Risk("pairwise 0-1", tie="some")
    data, s = made()
    with pytest.raises(pk.DataError, match="shape"):
        Risk(Square())(s[1:], data)


@pytest.mark.parametrize("name", sorted(name for name, loss in pk.losses().items() if loss.has_value))
def test_every_loss_of_the_library_has_a_risk(name):
    loss = pk.losses()[name]()
    data, _ = made()
    s = np.random.default_rng(0).standard_normal(data.n_rows)
    if loss.bind(data).n_outputs > 1:
        with pytest.raises(pk.LossError, match="shape"):
            Risk(loss)(s, data)
        return
    view = "subset"
    value = Risk(loss, view, "average")(s, data)
    assert np.isfinite(value)
    whole = loss.bind(data.select([1])).evaluate(s[data.offsets[1] : data.offsets[2]])[0][0]
    one = query_level_losses(loss, s, data)[1]
    count = as_associate_loss(loss).associates.labelled(data)[1]
    if not getattr(loss, "normalize", False):
        assert one * count == pytest.approx(whole, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("measure", ["nDCG@3", "AP", "RR", "ERR@5", "P@2", "AUC", "Misranking", "RBP"])
def test_measures_are_true_losses_of_lists(measure):
    data, s = made()
    values = pk.evaluate(data, s, [measure]).values[measure]
    error = values if measure == "Misranking" else 1 - values
    assert Risk(measure, "subset")(s, data) == pytest.approx(error.mean())
