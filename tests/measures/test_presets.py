"""Presets against the official tools' outputs and the installed libraries."""

from __future__ import annotations

import numpy as np
import pytest

import plackett as pk
from plackett.data.letor import read_letor
from plackett.evaluation.evaluate_run import evaluate_run
from plackett.measures import parse
from plackett.measures.presets import PRESETS, with_preset

CUTS = range(1, 11)
FOUR_DIGITS = 0.5e-4 + 1e-9


@pytest.mark.golden
@pytest.mark.spec("LR-05")
@pytest.mark.parametrize("fold", range(1, 6))
@pytest.mark.parametrize("ranker", ["RankBoost", "RankNet", "svm_rank"])
def test_letor4_script(data_dir, ranker, fold):
    data = read_letor(data_dir / f"LETOR4.0-MQ2008/Fold{fold}/test.txt")
    golden = data_dir / f"letor-golden/letor4-MQ2008-{ranker}"
    scores = np.loadtxt(golden / f"Fold{fold}.scores.txt")
    wanted: dict[str, dict[str, float]] = {}
    for name in ("per-query", "average"):
        for line in (golden / f"Fold{fold}.{name}.txt").read_text().splitlines():
            words = line.split("\t")
            if words[0] == "qid":
                columns = words[1:]
            elif len(words) > 1:
                for column, value in zip(columns, words[1:], strict=True):
                    wanted.setdefault(column, {})[words[0]] = float(value)
    assert len(wanted) == 22
    found = pk.evaluate(data, data.from_input_order(scores), list(wanted), preset="letor4")
    for column, values in wanted.items():
        name = str(parse(column))
        assert found.mean[name] == pytest.approx(values.pop("Average"), abs=FOUR_DIGITS)
        np.testing.assert_allclose(
            found.values[name], [values[str(qid)] for qid in data.qids], rtol=0, atol=FOUR_DIGITS, err_msg=column
        )


@pytest.mark.golden
@pytest.mark.spec("LR-05")
@pytest.mark.parametrize("fold", range(1, 6))
@pytest.mark.parametrize("ranker", ["RankBoost", "RankNet", "svm_rank"])
def test_letor3_script(data_dir, ranker, fold):
    data = read_letor(data_dir / f"LETOR3.0-OHSUMED/QueryLevelNorm/Fold{fold}/test.txt")
    golden = data_dir / f"letor-golden/letor3-OHSUMED-{ranker}"
    scores = np.loadtxt(golden / f"Fold{fold}.scores.txt")
    columns = {"precision": [f"P@{k}" for k in CUTS], "map": ["AP"], "ndcg": [f"nDCG@{k}" for k in CUTS]}
    names = [name for group in columns.values() for name in group]
    found = pk.evaluate(data, data.from_input_order(scores), names, preset="letor3")
    seen = 0
    for line in (golden / f"Fold{fold}.per-query.txt").read_text().splitlines():
        head, _, numbers = line.partition(":")
        if not head:
            continue
        kind, _, query = head.lower().partition(" of query")
        for name, value in zip(columns[kind], numbers.split(), strict=True):
            ours = found.values[name][int(query)] if query else found.mean[name]
            assert ours == pytest.approx(float(value), abs=1e-12)
            seen += 1
    assert seen == 21 * (data.n_queries + 1)


def trec_name(name: str) -> str | None:
    """Our name of a measure in trec_eval's output; None for those that we do not have."""
    if name == "set_relative_P":
        return "P(relative=True)"
    head, _, parameter = name.rpartition("_")
    forms = {
        "relative_P": "P(relative=True)@{}",
        "Rprec_mult": "Rprec(mult={})",
        "11pt_avg": "IPrec11(levels=({}))",
        "utility": "Utility(a=2, b=-1)",
    }
    if head in forms and parameter[0] in ".0123456789":
        return forms[head].format(parameter)
    try:
        return str(parse(name))
    except ValueError:
        return None


#: In trec_eval's output and not in the package: text, residuals, measures of its authors' experiments, log means.
ABSENT = {
    "runid", "relstring", "relstring_20", "rbp_resid", "num_nonrel_judged_ret", "unj_5", "unj_10", "unj_20",
    "G", "binG", "ndcg_rel", "Rndcg", "gm_bpref", "ndcg_1=3,2=9,4=4.5",
}  # fmt: skip


@pytest.mark.golden
@pytest.mark.spec("eval.protocol")
@pytest.mark.parametrize(
    ("output", "qrels", "run", "options"),
    [
        ("out.test", "qrels.test", "results.test", {}),
        ("out.test.a", "qrels.test", "results.test", {}),
        ("out.test.aq", "qrels.test", "results.test", {}),
        ("out.test.aqc", "qrels.test", "results.trunc", {"complete": True}),
        ("out.test.aqcM", "qrels.test", "results.trunc", {"complete": True, "depth": 100}),
        ("out.test.aql", "qrels.rel_level", "results.test", {"rel": 2}),
        ("out.test.meas_params", "qrels.test", "results.test", {}),
    ],
)
def test_trec_eval(data_dir, output, qrels, run, options):
    folder = data_dir / "trec_eval/test"
    wanted: dict[str, dict[str, str]] = {}
    for line in (folder / output).read_text().splitlines():
        name, query, value = line.split()
        wanted.setdefault(name, {})[query] = value
    ours = {name: trec_name(name) for name in wanted}
    assert {name for name, known in ours.items() if known is None} <= ABSENT
    measures = {name: parse(known) for name, known in ours.items() if known is not None}
    if "rel" in options:
        measures = {name: m(rel=options["rel"]) if hasattr(m, "rel") else m for name, m in measures.items()}
        del measures["rbp"]  # trec_eval's is graded, with the levels that the judgements have
    found = evaluate_run(
        folder / qrels,
        first(folder / run, options["depth"]) if "depth" in options else folder / run,
        list(measures.values()),
        preset="trec",
        complete=options.get("complete"),
    )
    row = {str(qid): i for i, qid in enumerate(found.qids)}
    for name, measure in measures.items():
        for query, value in wanted[name].items():
            got = found.mean[str(measure)] if query == "all" else found.values[str(measure)][row[query]]
            assert got == pytest.approx(float(value), abs=FOUR_DIGITS), (name, query)


def first(path, depth):
    """The first documents of each query of a run, in trec_eval's order."""
    by_query: dict[str, list[tuple[float, str]]] = {}
    for line in path.read_text().splitlines():
        qid, _, docid, _, score = line.split()[:5]
        by_query.setdefault(qid, []).append((float(np.float32(score)), docid))
    return {qid: {d: s for s, d in sorted(pairs, reverse=True)[:depth]} for qid, pairs in by_query.items()}


# ------------------------------------------------------------------------------------------------- installed libraries


@pytest.fixture(scope="module")
def lists():
    """Lists of unequal length with ties; every fifth has nothing relevant, some have one document."""
    rng = np.random.default_rng(0)
    sizes = rng.integers(1, 30, 60)
    qid = np.repeat(np.arange(60), sizes)
    labels = np.where(qid % 5 == 0, 0, rng.integers(0, 4, qid.size)).astype(float)
    return labels, rng.integers(0, 8, qid.size).astype(float), qid, sizes


def test_sklearn(lists):
    metrics = pytest.importorskip("sklearn.metrics")
    labels, scores, qid, sizes = lists
    found = pk.evaluate(labels, scores, ["nDCG", "nDCG@5", "DCG", "DCG@5"], qid=qid, preset="sklearn")
    for q in np.flatnonzero(sizes > 1):  # scikit-learn refuses lists of one document
        y, s = [labels[qid == q]], [scores[qid == q]]
        assert found.values["nDCG"][q] == pytest.approx(metrics.ndcg_score(y, s))
        assert found.values["nDCG@5"][q] == pytest.approx(metrics.ndcg_score(y, s, k=5))
        assert found.values["DCG"][q] == pytest.approx(metrics.dcg_score(y, s))
        assert found.values["DCG@5"][q] == pytest.approx(metrics.dcg_score(y, s, k=5))


def test_lightgbm(lists):
    lightgbm = pytest.importorskip("lightgbm")
    labels, scores, qid, sizes = lists
    noise = np.random.default_rng(1).random((labels.size, 1))
    recorded: dict = {}
    train = lightgbm.Dataset(noise, labels, group=sizes, init_score=scores)
    lightgbm.train(
        {
            "objective": lambda scores, _: (np.zeros(scores.size), np.ones(scores.size)),  # the scores stay as given
            "metric": ["ndcg", "map"],
            "eval_at": [1, 3, 10, 25],
            "verbose": -1,
            "num_threads": 1,
        },
        train,
        1,
        valid_sets=[train.create_valid(noise, labels, group=sizes, init_score=scores)],
        callbacks=[lightgbm.record_evaluation(recorded)],
    )
    wanted = {str(parse(name)): values[0] for name, values in recorded["valid_0"].items()}
    assert len(wanted) == 8
    assert pk.evaluate(labels, scores, list(wanted), qid=qid, preset="lightgbm").mean == pytest.approx(wanted)


@pytest.mark.parametrize("metric", ["ndcg", "map", "pre"])
def test_xgboost(lists, metric):
    xgboost = pytest.importorskip("xgboost")
    labels, scores, qid, _ = lists
    if metric != "ndcg":
        labels = np.minimum(labels, 1)  # the only labels that XGBoost takes there
    names = [f"{metric}@{k}" for k in (1, 3, 10, 25)]
    matrix = xgboost.DMatrix(np.zeros((labels.size, 1)), labels, qid=qid, base_margin=scores)
    parameters = {"objective": "rank:ndcg", "learning_rate": 0.0, "eval_metric": names, "nthread": 1}
    text = xgboost.train(parameters, matrix, 1).eval(matrix)
    wanted = {str(parse(name.removeprefix("eval-"))): float(value) for name, value in
              (pair.rsplit(":", 1) for pair in text.split()[1:])}  # fmt: skip
    assert len(wanted) == 4
    assert pk.evaluate(labels, scores, list(wanted), qid=qid, preset="xgboost").mean == pytest.approx(wanted)


def test_yahoo_err():
    """The challenge has labels up to 4, whatever the largest one of a part of the data is."""
    assert pk.evaluate([3, 2], [2, 1], ["ERR"], preset="yahoo").mean["ERR"] == pytest.approx(
        7 / 16 + 9 / 16 * 3 / 16 / 2
    )


def test_a_given_parameter_stays():
    assert with_preset(parse("nDCG@5"), "letor3") == parse('nDCG(discount="letor", short="zero", ties="stable")@5')
    assert with_preset(parse('nDCG(gain="binary")'), "trec") == parse('nDCG(gain="binary", ties="trec")')
    with pytest.raises(pk.MeasureError, match="letor3"):
        with_preset(parse("AP"), "letor5")


def test_every_parameter_of_a_preset_exists():
    import dataclasses

    measures = pk.measures()
    fields = {name: {field.name for field in dataclasses.fields(m)} for name, m in measures.items()}
    for rules in PRESETS.values():
        for key in rules.keys() - {"complete"}:
            name, _, parameter = key.rpartition(".")
            assert parameter in (fields[name] if name else set.union(*fields.values())), key
