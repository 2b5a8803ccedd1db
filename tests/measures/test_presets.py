"""Presets against the official tools' outputs and the installed libraries."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

import plackett as pk
from plackett.data.letor import read_letor
from plackett.data.trec import read_qrels, read_run
from plackett.data.trec_diversity import read_diversity_qrels
from plackett.evaluation.evaluate_run import evaluate_run
from plackett.measures import parse
from plackett.measures.presets import PRESETS, with_preset

CUTS = range(1, 11)
FOUR_DIGITS = 0.5e-4 + 1e-9


@pytest.mark.golden
@pytest.mark.parametrize("fold", range(1, 6))
@pytest.mark.parametrize("ranker", ["RankBoost", "RankNet", "svm_rank"])
def test_letor4_script(data_dir, ranker, fold):
    data = read_letor(data_dir / f"LETOR4.0-MQ2008/Fold{fold}/test.txt")
    golden = data_dir / f"letor-golden/letor4-MQ2008-{ranker}"
    scores = np.loadtxt(golden / f"Fold{fold}.scores.txt")
    wanted: dict[str, dict[str, float]] = {}
    for name in ("per-query", "average"):
        for line in (golden / f"Fold{fold}.{name}.txt").read_text().splitlines():
            tokens = line.split("\t")
            if tokens[0] == "qid":
                columns = tokens[1:]
            elif len(tokens) > 1:
                for column, value in zip(columns, tokens[1:], strict=True):
                    wanted.setdefault(column, {})[tokens[0]] = float(value)
    assert len(wanted) == 22
    result = pk.evaluate(data, data.from_input_order(scores), list(wanted), preset="letor4")
    for column, values in wanted.items():
        name = str(parse(column))
        assert result.mean[name] == pytest.approx(values.pop("Average"), abs=FOUR_DIGITS)
        np.testing.assert_allclose(
            result.values[name], [values[str(qid)] for qid in data.qids], rtol=0, atol=FOUR_DIGITS, err_msg=column
        )


@pytest.mark.golden
@pytest.mark.parametrize("fold", range(1, 6))
@pytest.mark.parametrize("ranker", ["RankBoost", "RankNet", "svm_rank"])
def test_letor3_script(data_dir, ranker, fold):
    data = read_letor(data_dir / f"LETOR3.0-OHSUMED/QueryLevelNorm/Fold{fold}/test.txt")
    golden = data_dir / f"letor-golden/letor3-OHSUMED-{ranker}"
    scores = np.loadtxt(golden / f"Fold{fold}.scores.txt")
    columns = {"precision": [f"P@{k}" for k in CUTS], "map": ["AP"], "ndcg": [f"nDCG@{k}" for k in CUTS]}
    names = [name for group in columns.values() for name in group]
    result = pk.evaluate(data, data.from_input_order(scores), names, preset="letor3")
    seen = 0
    for line in (golden / f"Fold{fold}.per-query.txt").read_text().splitlines():
        head, _, numbers = line.partition(":")
        if not head:
            continue
        kind, _, query = head.lower().partition(" of query")
        for name, value in zip(columns[kind], numbers.split(), strict=True):
            ours = result.values[name][int(query)] if query else result.mean[name]
            assert ours == pytest.approx(float(value), abs=1e-12)
            seen += 1
    assert seen == 21 * (data.n_queries + 1)


def trec_name(name: str) -> str | None:
    """Our name of a measure in trec_eval's output; None for those that we do not have."""
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
    result = evaluate_run(
        folder / qrels,
        first(folder / run, options["depth"]) if "depth" in options else folder / run,
        list(measures.values()),
        preset="trec",
        complete=options.get("complete"),
    )
    row = {str(qid): i for i, qid in enumerate(result.qids)}
    for name, measure in measures.items():
        for query, value in wanted[name].items():
            got = result.mean[str(measure)] if query == "all" else result.values[str(measure)][row[query]]
            assert got == pytest.approx(float(value), abs=FOUR_DIGITS), (name, query)


def test_pytrec_eval(data_dir):
    """All measures of trec_eval 9, on its own test files and on random lists with ties."""
    pytrec_eval = pytest.importorskip("pytrec_eval")
    folder = data_dir / "trec_eval/test"
    rng = np.random.default_rng(0)
    ids = [f"d{i}" for i in range(60)]
    random_qrels = {f"q{q}": {d: int(rng.integers(0, 3)) for d in ids[: rng.integers(2, 60)]} for q in range(30)}
    random_run = {q: {d: float(rng.integers(0, 9)) for d in ids[rng.integers(0, 30) :]} for q in random_qrels}
    for qrels, run in (
        (trec_file(folder / "qrels.test", 3, int), trec_file(folder / "results.test", 4, float)),
        (random_qrels, random_run),
    ):
        kinds = pytrec_eval.supported_measures - {"runid", "relstring", "gm_map", "gm_bpref"}
        wanted = pytrec_eval.RelevanceEvaluator(qrels, kinds).evaluate(run)
        names = {name: trec_name(name) for name in next(iter(wanted.values()))}
        assert {name for name, ours in names.items() if ours is None} <= ABSENT
        names = {name: ours for name, ours in names.items() if ours is not None}
        result = evaluate_run(qrels, run, list(names.values()), preset="trec9")
        assert len(names) > 60 and set(result.qids.tolist()) == wanted.keys()
        for name, ours in names.items():
            values = [wanted[qid][name] for qid in result.qids]
            np.testing.assert_allclose(result.values[ours], values, rtol=0, atol=1e-9, err_msg=name)


def trec_file(path, column, kind):
    """Query: {document: number} of a file of trec_eval."""
    result: dict[str, dict[str, float]] = {}
    for line in path.read_text().splitlines():
        tokens = line.split()
        result.setdefault(tokens[0], {})[tokens[2]] = kind(tokens[column])
    return result


def first(path, depth):
    """The first documents of each query of a run, in trec_eval's order."""
    by_query: dict[str, list[tuple[float, str]]] = {}
    for line in path.read_text().splitlines():
        qid, _, docid, _, score = line.split()[:5]
        by_query.setdefault(qid, []).append((float(np.float32(score)), docid))
    return {qid: {d: s for s, d in sorted(pairs, reverse=True)[:depth]} for qid, pairs in by_query.items()}


# ------------------------------------------------------------------------------------------------- ndeval and gdeval

WEB_RUNS = [f"{model}-cat{part}{kind}" for model in ("ql", "rm") for part in "ab" for kind in ("", "-filtered")]
SIX_DIGITS = 0.5e-6 + 1e-9


@pytest.fixture(scope="module")
def web(data_dir):
    """Judgements of the TREC Web track of 2012 as frames: by subtopic and ad hoc."""
    folder = data_dir / "trec-web-diversity/2012"
    diversity, ad_hoc = folder / "qrels-for-ndeval.txt", folder / "qrels.adhoc.txt"
    return data_dir / "trec-web-diversity", read_diversity_qrels(diversity), read_qrels(ad_hoc)


def web_run(folder, name, *, by_rank=False, depth=None):
    """A run as a frame; ndeval reads the column of ranks unless told otherwise."""
    path = folder / f"runs-2012/{name}.txt"
    run = read_run(path)
    if by_rank:
        ranks = [-float(line.split()[3]) for line in path.read_text().splitlines()]
        run = run.with_columns(score=pl.Series(ranks))
    if depth is not None:
        order = run.sort([pl.col("score").cast(pl.Float32), "docid"], descending=True, maintain_order=True)
        run = order.group_by("qid", maintain_order=True).head(depth)
    return run


def golden_columns(path):
    """Values by column and topic; the mean is the topic amean."""
    header, *lines = (line.split(",") for line in path.read_text().splitlines())
    return {name: {line[1]: float(line[i]) for line in lines} for i, name in enumerate(header) if i > 1}


def check_columns(result, wanted, measures, tolerance):
    for column, measure in measures.items():
        values = dict(zip(result.qids.tolist(), result.values[str(measure)].tolist(), strict=True))
        values["amean"] = result.mean[str(measure)]
        topics = list(wanted[column])
        assert len(topics) == 51
        np.testing.assert_allclose(
            [values[topic] for topic in topics],
            [wanted[column][topic] for topic in topics],
            rtol=0,
            atol=tolerance,
            err_msg=column,
        )


@pytest.mark.golden
@pytest.mark.parametrize("run", WEB_RUNS)
def test_ndeval(web, run):
    folder, qrels, _ = web
    for options, by_rank in (("c-traditional", False), ("default", True)):
        wanted = golden_columns(folder / f"ndeval-golden/2012.{run}.{options}.csv")
        assert len(wanted) == 21
        measures = {column: parse(column) for column in wanted}
        result = evaluate_run(qrels, web_run(folder, run, by_rank=by_rank), list(measures.values()), preset="ndeval")
        check_columns(result, wanted, measures, SIX_DIGITS)


@pytest.mark.golden
@pytest.mark.parametrize("run", ["ql-cata", "rm-catb-filtered"])
def test_ndeval_options(web, run):
    """-alpha 0.9 -M 100, and the differences from a baseline of -riskAlpha 1."""
    folder, qrels, _ = web
    wanted = golden_columns(folder / f"ndeval-golden/2012.{run}.c-traditional.alpha0.9.M100.csv")
    measures = {column: parse(column) for column in wanted}
    measures = {column: m(alpha=0.9) if hasattr(m, "alpha") else m for column, m in measures.items()}
    result = evaluate_run(qrels, web_run(folder, run, depth=100), list(measures.values()), preset="ndeval")
    check_columns(result, wanted, measures, SIX_DIGITS)
    wanted = golden_columns(folder / f"ndeval-golden/2012.{run}.c-traditional.risk1-vs-rm-cata-filtered.csv")
    names = list(wanted)
    ours, base = (
        evaluate_run(qrels, web_run(folder, name), names, preset="ndeval").values for name in (run, "rm-cata-filtered")
    )
    for column, topics in wanted.items():
        difference = ours[str(parse(column))] - base[str(parse(column))]
        risk = np.where(difference < 0, 2 * difference, difference)
        np.testing.assert_allclose(np.mean(risk), topics["amean"], rtol=0, atol=2 * SIX_DIGITS, err_msg=column)


@pytest.mark.golden
@pytest.mark.parametrize("run", WEB_RUNS)
def test_gdeval(web, run):
    folder, _, qrels = web
    wanted = golden_columns(folder / f"ndeval-golden/2012.{run}.gdeval-c.csv")
    assert list(wanted) == ["ndcg@20", "err@20"]
    measures = {column: parse(column) for column in wanted}
    result = evaluate_run(qrels, web_run(folder, run), list(measures.values()), preset="gdeval", complete=True)
    check_columns(result, wanted, measures, 0.5e-5 + 1e-9)


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
    result = pk.evaluate(labels, scores, ["nDCG", "nDCG@5", "DCG", "DCG@5"], qid=qid, preset="sklearn")
    for q in np.flatnonzero(sizes > 1):  # scikit-learn refuses lists of one document
        y, s = [labels[qid == q]], [scores[qid == q]]
        assert result.values["nDCG"][q] == pytest.approx(metrics.ndcg_score(y, s))
        assert result.values["nDCG@5"][q] == pytest.approx(metrics.ndcg_score(y, s, k=5))
        assert result.values["DCG"][q] == pytest.approx(metrics.dcg_score(y, s))
        assert result.values["DCG@5"][q] == pytest.approx(metrics.dcg_score(y, s, k=5))


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
    wanted = {
        str(parse(name.removeprefix("eval-"))): float(value)
        for name, value in (pair.rsplit(":", 1) for pair in text.split()[1:])
    }
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


@pytest.mark.parametrize("preset", PRESETS)
def test_what_was_written_stays(preset):
    """Every parameter that the preset changes, written at our default: in text and as an object."""
    import dataclasses

    changed = 0
    for name, measure in pk.measures().items():
        under = with_preset(measure, preset)
        for field in dataclasses.fields(measure):
            default = getattr(measure, field.name)
            if getattr(under, field.name) == default:
                continue
            changed += 1
            written = measure(**{field.name: default})
            for form in (written, parse(str(written)), type(measure)(**{field.name: default}), pickle_copy(written)):
                assert getattr(with_preset(form, preset), field.name) == default, (name, field.name)
    assert changed


def pickle_copy(measure):
    import pickle

    return pickle.loads(pickle.dumps(measure))


def test_written_and_open_parameters_side_by_side():
    """Both are asked for, and both are in the result under the names that they were asked for."""
    result = pk.evaluate([2, 1, 0, 1], [0.1, 0.2, 0.3, 0.4], ["nDCG", 'nDCG(gain="exp2")'], preset="sklearn")
    ideal = 3 + 1 / np.log2(3) + 1 / 2
    assert result.mean == {
        "nDCG": pytest.approx((1 + 1 / 2 + 2 / np.log2(5)) / (2 + 1 / np.log2(3) + 1 / 2)),
        'nDCG(gain="exp2")': pytest.approx((1 + 1 / 2 + 3 / np.log2(5)) / ideal),
    }


def test_what_was_written_stays_on_the_command_line(tmp_path):
    from typer.testing import CliRunner

    from plackett.cli.app import app

    (tmp_path / "data.txt").write_text("".join(f"{label} qid:1 1:0\n" for label in (2, 1, 0, 1)))
    (tmp_path / "scores.txt").write_text("0.1\n0.2\n0.3\n0.4\n")
    arguments = ["evaluate", str(tmp_path / "data.txt"), str(tmp_path / "scores.txt"), "--preset", "sklearn", "--json"]
    run = CliRunner().invoke(app, [*arguments, "-m", 'nDCG(gain="exp2")'])
    assert json.loads(run.stdout)["mean"] == {'nDCG(gain="exp2")': pytest.approx(0.6759, abs=5e-5)}


def test_every_parameter_of_a_preset_exists():
    import dataclasses

    measures = pk.measures()
    fields = {name: {field.name for field in dataclasses.fields(m)} for name, m in measures.items()}
    for rules in PRESETS.values():
        for key in rules.keys() - {"complete", "subtopics"}:
            name, _, parameter = key.rpartition(".")
            assert parameter in (fields[name] if name else set.union(*fields.values())), key
