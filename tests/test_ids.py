"""Every public function and command with ids of every kind, from every kind of table.

The result must be that of the same data with queries 0, 1, 2, … and documents 0, 1, 2, …: ids are names, and nothing
may depend on how they are spelt or be lost on the way.
"""

from __future__ import annotations

import json
import sys

import numpy as np
import polars as pl
import pytest

import plackett as pk
from plackett import cli
from plackett._names.catalogue import public_names

N_QUERIES, N_DOCS = 6, 5
N_ROWS = N_QUERIES * N_DOCS

#: Ids of queries, and how the document ids of a query are made.
IDS = {
    "integers": ([30, 7, 100, -4, 0, 12], lambda i: 1000 - i),
    "strings": (["paris", "rome", "São Paulo", "oslo", "x", "Z"], lambda i: f"doc-{i}"),
    "numerals": (["3", "20", "100", "1", "7", "0"], lambda i: f"{i}"),
    "mixed": (
        ["007", "1e3", "7", "0x1F", "1_0", "nan"],
        lambda i: ["007", "1e3", "NA", "1.0", "null"][i % 5] + f"{i:02d}",
    ),
}
SOURCES = ("arrays", "pandas", "polars", "csv", "parquet")


def _columns(qids, docid):
    rng = np.random.default_rng(3)
    number = np.tile(np.arange(N_QUERIES), N_DOCS)  # the rows of a query stand apart
    X = rng.normal(size=(N_ROWS, 2)).round(3)
    y = np.digitize(X[:, 0] + rng.normal(scale=0.3, size=N_ROWS), [-0.5, 0.5]).astype(float)
    columns = {"qid": [qids[i] for i in number], "docid": [docid(i) for i in range(N_ROWS)], "label": y}
    return columns | {"a": X[:, 0], "b": X[:, 1]}


def _given(source, columns, folder):
    """The columns as users have them, and the dataset made of it."""
    frame = pl.DataFrame(columns)
    if source == "arrays":
        X = np.column_stack([columns["a"], columns["b"]])
        data = pk.RankingDataset.from_arrays(
            X, columns["label"], columns["qid"], docids=columns["docid"], feature_names=["a", "b"]
        )
        return X, data
    if source == "pandas":
        table = pytest.importorskip("pandas").DataFrame(columns)
        return table, pk.RankingDataset.from_frame(table)
    if source == "polars":
        return frame, pk.RankingDataset.from_frame(frame)
    path = folder / f"data.{source}"
    frame.write_csv(path) if source == "csv" else frame.write_parquet(path)
    return path, pk.read(path)


def _spellings(name):
    """An id as it may come back: files of text do not say whether 7 is a number."""
    return {name, str(name)} | ({int(name)} if str(name).isdecimal() and str(int(name)) == name else set())


class Case:
    """The data under test, with what turns ids back into numbers."""

    def __init__(self, kind, source, folder):
        qids, docid = (range(N_QUERIES), lambda i: i) if kind is None else IDS[kind]
        self.folder = folder
        self.columns = _columns(qids, docid)
        self.given, self.data = _given(source, self.columns, folder)
        docids = [docid(i) for i in range(N_ROWS)]
        self.query = {name: i for i, qid in enumerate(qids) for name in _spellings(qid)}
        self.document = {name: i for i, each in enumerate(docids) for name in _spellings(each)}
        self.scores = self.data.X[:, 0] + 0.2 * self.data.X[:, 1]
        self.other = self.data.X[:, 1]

    def q(self, qids):
        return [self.query[qid] for qid in qids]

    def d(self, docids):
        return [self.document[docid] for docid in docids]

    def rows(self, frame):
        """Rows of a frame with ids as numbers, sorted."""
        names = {"qid": self.query, "docid": self.document}
        columns = [[names[n][v] for v in frame[n]] if n in names else frame[n].to_list() for n in frame.columns]
        return sorted(zip(*columns, strict=True))

    @property
    def ordered(self):
        return self.data.replace(y=(self.scores - self.scores.min()).astype(float))

    @property
    def preferred(self):
        return self.data.replace(preferences=pk.to_pairwise(self.data), y=None)

    @property
    def qrels(self):
        return self.data.to_polars()

    @property
    def runs(self):
        return {name: pk.run_frame(self.data, s) for name, s in (("x", self.scores), ("y", self.other))}

    @property
    def ranker(self):
        return pk.LinearRegression().fit(self.data)

    def file(self, name):
        return self.folder / name

    def written(self, writer, reader, name, *args):
        writer(*args, self.file(name))
        return reader(self.file(name))


def _experiment(c):
    result = pk.experiment(c.data, ["LinearRegression"], "nDCG@5", folds=3, search=None, n_jobs=1)
    assert not result.failures
    return sorted(zip(c.q(result.per_query["qid"]), result.per_query["nDCG@5"], strict=True))


def _explain(c):
    result = [pk.explain(c.ranker, c.data, qid) for qid in c.data.qids.tolist()]
    return [(c.q([e.qid]), c.d(e.documents), e.contributions.tolist(), c.d(e.ranking()["document"])) for e in result]


def _letor(c, read):
    pk.write_letor(c.data.replace(docids=None), c.file("a.txt"))
    data = read(c.file("a.txt"))
    return c.q(data.qids), data.y.tolist()


def _dataset(c, data):
    return c.q(data.qids), c.d(data.docids), data.y.tolist(), np.asarray(data.X).tolist(), data.offsets.tolist()


def _per_query(c, result):
    return sorted(zip(c.q(result.per_query["qid"].to_list()), *result.per_query.drop("qid").get_columns(), strict=True))


#: A dataset is a dataset: these are run on the one from arrays alone.
SLOW = {
    "compare",
    "compare_evaluations",
    "compare_runs",
    "cross_validate",
    "experiment",
    "permutation_importance",
    "prune",
}
#: Blanks do not fit into files whose fields are separated by them.
NO_BLANKS = {"read_letor", "read_letor_chunks", "write_letor", "write_qrels", "read_qrels", "write_run", "read_run",
             "read_ranklib_scores", "write_ranklib_scores", "read_folds"}  # fmt: skip

FUNCTIONS = {
    "aggregate": lambda c: pk.aggregate(c.data.replace(X=np.abs(c.data.X).argsort(0).astype("f4") + 1)).tolist(),
    "best_order": lambda c: pk.best_order(c.data, c.scores).tolist(),
    "compare": lambda c: pk.compare(c.data, {"x": c.scores, "y": c.other}, "nDCG").pairs["p"].to_list(),
    "compare_evaluations": lambda c: (
        pk.compare_evaluations({"x": pk.evaluate(c.data, c.scores, "AP"), "y": pk.evaluate(c.data, c.other, "AP")})
        .pairs["p"]
        .to_list()
    ),
    "compare_runs": lambda c: pk.compare_runs(c.qrels, c.runs, "nDCG@3").pairs["p"].to_list(),
    "concat": lambda c: _dataset(c, pk.concat([c.data.select([0, 1]), c.data.select([2, 3, 4, 5])])),
    "cross_validate": lambda c: _per_query(c, pk.cross_validate(c.data, pk.LinearRegression(), "AP", folds=3)),
    "domains": lambda c: [c.q(part.qids) for part in pk.domains(c.data, np.arange(c.data.n_queries) % 2).values()],
    "evaluate": lambda c: _per_query(c, pk.evaluate(c.data, c.scores, ["nDCG@3", "AP"])),
    "evaluate_run": lambda c: _per_query(c, pk.evaluate_run(c.qrels, c.runs["x"], ["nDCG@3", "AP"])),
    "experiment": _experiment,
    "explain": _explain,
    "fuse": lambda c: c.rows(pk.fuse(c.runs, "rrf")) + c.rows(pk.fuse(c.runs, "combsum", qrels=c.qrels)),
    "informativeness": lambda c: str(pk.informativeness("AP", c.data, c.scores)),
    "isotonic_update": lambda c: str(pk.isotonic_update(c.scores, c.data)),
    "join_run": lambda c: c.q(pk.join_run(c.qrels, c.runs["x"]).data.qids),
    "kendall_tau": lambda c: list(pk.kendall_tau(c.scores, c.other, c.data.qid)),
    "leaks": lambda c: str(pk.leaks(c.data, c.data.select([1, 2]))),
    "letor_comment_fields": lambda c: len(pk.letor_comment_fields(c.data)),
    "letor_folds": lambda c: [c.q(fold.test.qids) for fold in pk.letor_folds(c.data, 3)],
    "measure_curve": lambda c: pk.measure_curve(c.data, c.scores, ks=[1, 2]).tolist(),
    "model_importance": lambda c: c.rows(pk.model_importance(c.ranker, c.data)),
    "order_to_grades": lambda c: pk.order_to_grades(c.ordered, pk.to_order(c.ordered)).tolist(),
    "pair_precision": lambda c: pk.pair_precision(c.data, c.scores).tolist(),
    "permutation_importance": lambda c: c.rows(pk.permutation_importance(c.ranker, c.data, n_repeats=2)),
    "pool": lambda c: c.rows(pk.pool(list(c.runs.values()), depth=2)),
    "precision_recall_curve": lambda c: [part.tolist() for part in pk.precision_recall_curve(c.data, c.scores)],
    "profile": lambda c: str(pk.profile(c.data)),
    "prune": lambda c: (
        pk.prune(pk.LambdaMART(n_estimators=4, num_leaves=3, min_child_samples=1, n_jobs=1).fit(c.data), c.data, 2)
        .predict(c.data)
        .tolist()
    ),
    "query_features": lambda c: pk.query_features(c.data).tolist(),
    "rbo": lambda c: list(pk.rbo(c.scores, c.other, c.data.qid)),
    "read": lambda c: _dataset(c, c.written(pk.write, pk.read, "a.plackett", c.data)),
    "read_letor": lambda c: _letor(c, pk.read_letor),
    "read_letor_chunks": lambda c: _letor(c, lambda path: pk.concat(list(pk.read_letor_chunks(path)))),
    "read_qrels": lambda c: c.rows(c.written(pk.write_qrels, pk.read_qrels, "a.qrels", c.qrels)),
    "read_ranklib_scores": lambda c: c.written(
        lambda path: pk.write_ranklib_scores(c.data, c.scores, path),
        lambda path: pk.read_ranklib_scores(path, c.data).tolist(),
        "a.scores",
    ),
    "read_run": lambda c: c.rows(
        c.written(pk.write_run, pk.read_run, "a.run", c.runs["x"]).select("qid", "docid", "score")
    ),
    "relatedness": lambda c: str(
        pk.relatedness(c.data.select([0, 1, 2]), c.data.select([3, 4, 5]), "LinearRegression")
    ),
    "response_times": lambda c: c.q(
        pk.response_times(pk.KNNOffline2(base="LinearRegression", k=2).fit(c.data), c.data)["qid"].to_numpy()
    ),
    "roc_curve": lambda c: str(pk.roc_curve(c.data, c.scores)),
    "run_frame": lambda c: c.rows(c.runs["x"]),
    "sample_order": lambda c: pk.sample_order(c.data, 0).tolist(),
    "churn": lambda c: c.rows(pk.churn(c.scores, c.data.X[:, 1], c.data, k=2).documents.sort("old_rank", "new_rank")),
    "robustness": lambda c: pk.robustness(c.data, c.scores, noise=1e-9).mean["value"],
    "switch_probability": lambda c: c.rows(pk.switch_probability(c.data, c.scores)),
    "update_ranker": lambda c: pk.update_ranker(pk.ListNet().fit(c.data), c.data, max_churn=0).churn.mean["replaced"],
    "feature_frontier": lambda c: c.rows(pk.feature_frontier("LinearRegression", c.data, c.data, verbose=False).frame),
    "feature_similarity": lambda c: pk.feature_similarity(c.data).tolist(),
    "single_feature_importance": lambda c: c.rows(pk.single_feature_importance(c.data)),
    "spearman_rho": lambda c: list(pk.spearman_rho(c.scores, c.other, c.data.qid)),
    "split_by_time": lambda c: [
        c.q(part.qids) for part in pk.split_by_time(c.data, (0.5, 0.5), time=-np.arange(c.data.n_queries))
    ],
    "split_queries": lambda c: sorted(q for part in pk.split_queries(c.data, random_state=0) for q in c.q(part.qids)),
    "giveaways": lambda c: pk.giveaways(c.data),
    "without_added": lambda c: c.q(pk.without_added(c.data).qids),
    "tau_ap": lambda c: list(pk.tau_ap(c.scores, c.other, c.data.qid)),
    "to_order": lambda c: pk.to_order(c.ordered).tolist(),
    "to_pairwise": lambda c: len(pk.to_pairwise(c.data)),
    "to_pointwise": lambda c: pk.to_pointwise(c.preferred).tolist(),
    "weighted_kendall": lambda c: list(pk.weighted_kendall(c.scores, c.other, c.data.qid)),
    "weighted_kendall_omega": lambda c: pk.weighted_kendall_omega(c.preferred, c.scores).tolist(),
}
#: The second halves of what is above.
WRITERS = {"write", "write_letor", "write_qrels", "write_run", "write_ranklib_scores"}
#: Functions that never see an id.
WITHOUT_IDS = {
    "calibrate", "compare_with_published",
    "early_exit", "efficient_weights", "robust_training",
    "from_sklearn", "latency", "read_catboost", "read_lightgbm", "read_xgboost", "save", "verify_export",
    "write_c",
    "write_elasticsearch", "write_elasticsearch_ltr", "write_go", "write_java", "write_javascript", "write_lightgbm",
    "write_onnx", "write_opensearch_ltr", "write_pmml", "write_rust", "write_solr", "write_treelite", "write_vespa",
    "write_xgboost", "components", "friedman", "geo_risk", "labelled_pairs", "letor_baselines",
    "load", "load_scorer",
    "log_to_mlflow", "loss", "mean_ranks", "measure", "nemenyi", "published", "read_quickrank", "read_ranklib",
    "read_svm_rank", "scorer", "torch_loss",
    "trisk", "url_type", "urisk", "winning_number", "write_ranklib", "write_svm_rank", "zrisk",
}  # fmt: skip
#: Those whose files need columns of their own; see `test_folds_and_subtopics`.
#: `diversify`, and documents with their own ids: tests/diversity and tests/text; relations: tests/graph, tests/data.
ELSEWHERE = {
    "read_folds", "read_diversity_qrels", "write_diversity_qrels", "diversify", "extract", "read_documents", "search",
    "hyperedges", "link_relation", "parent_relation", "read_groups", "read_query_features", "read_relation",
}  # fmt: skip


def test_no_public_function_is_left_out():
    public = {name for name in public_names() if name[0].islower()}
    assert public == {*FUNCTIONS, *WRITERS, *WITHOUT_IDS, *ELSEWHERE}


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """What each function gives with plain numbers, computed once."""
    case, result = Case(None, "arrays", tmp_path_factory.mktemp("plain")), {}

    def of(name):
        if name not in result:
            result[name] = FUNCTIONS[name](case)
        return result[name]

    return of


def _same(result, wanted):
    if isinstance(wanted, (list, tuple)):
        return len(result) == len(wanted) and all(map(_same, result, wanted))
    if isinstance(wanted, float):
        return result == pytest.approx(wanted, rel=1e-9, abs=1e-12, nan_ok=True)
    return result == wanted


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("kind", IDS)
def test_functions(kind, source, expected, tmp_path):
    case = Case(kind, source, tmp_path)
    whole = kind == "integers" or (kind == "numerals" and source == "csv")  # text does not say which they are
    assert (case.data.qids.dtype.kind == "i") == (case.data.docids.dtype.kind == "i") == whole
    wrong = []
    for name, function in FUNCTIONS.items():
        if (kind == "strings" and name in NO_BLANKS) or (source != "arrays" and name in SLOW):
            continue
        try:
            if not _same(function(case), expected(name)):
                wrong.append(f"{name}: another result")
        except Exception as error:
            wrong.append(f"{name}: {type(error).__name__}: {error}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("kind", IDS)
@pytest.mark.parametrize("source", ["arrays", "pandas", "polars"])
def test_estimators(kind, source, tmp_path):
    """`fit`, `predict`, `rank` and `score` with plain arrays and with frames that carry their query ids."""
    case = Case(kind, source, tmp_path)
    y, qid = case.columns["label"], case.columns["qid"]
    if source == "arrays":
        X, parameters = case.given, {"qid": qid}
    else:
        X, parameters = (
            (case.given.drop(columns=["docid", "label"]) if source == "pandas" else case.given[["qid", "a", "b"]]),
            {},
        )
    wanted = pk.LinearRegression().fit(case.data)
    ranker = pk.LinearRegression().fit(X, y, **parameters)
    scores = case.data.to_input_order(wanted.predict(case.data))
    np.testing.assert_allclose(ranker.predict(X, **parameters), scores, rtol=1e-6)
    assert ranker.score(X, y, **parameters) == pytest.approx(wanted.score(case.data))
    assert sorted(ranker.rank(X, **parameters)) == sorted([*range(1, N_DOCS + 1)] * N_QUERIES)
    assert [len(test) for _, test in pk.QueryKFold(3).split(case.data.X, groups=case.data.qid)] == [10, 10, 10]
    normal = pk.QueryNormalizer("rank").fit_transform(case.data)
    assert case.q(normal.qids) == case.q(case.data.qids)


@pytest.mark.parametrize("kind", ["integers", "numerals", "mixed"])
def test_folds_and_subtopics(kind, tmp_path):
    case = Case(kind, "polars", tmp_path)
    for part, name in enumerate(("train", "vali", "test")):
        pk.write(case.data.select([2 * part, 2 * part + 1]), tmp_path / f"{name}.parquet")
    (fold,) = pk.read_folds(tmp_path)
    assert [case.q(part.qids) for part in (fold.train, fold.valid, fold.test)] == [[0, 1], [2, 3], [4, 5]]
    frame = case.qrels.select("qid", "docid", "label").with_columns(pl.col("label").cast(int), subtopic=pl.lit("1"))
    pk.write_diversity_qrels(frame, tmp_path / "a.div")
    back = pk.read_diversity_qrels(tmp_path / "a.div")
    assert sorted(case.d(back["docid"])) == list(range(N_ROWS)) and set(case.q(back["qid"])) == set(range(N_QUERIES))


@pytest.fixture
def run(monkeypatch, capsys):
    """Runs ``plackett`` in this process; it must succeed. Gives what it printed."""

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["plackett", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            cli.run()
        out, err = capsys.readouterr()
        assert not ended.value.code, (arguments, out, err)
        return out

    return call


@pytest.mark.parametrize("form", ["csv", "parquet", "plackett", "txt"])
@pytest.mark.parametrize("kind", IDS)
def test_commands(kind, form, run, tmp_path):
    if kind == "strings" and form == "txt":
        pytest.skip("ids with blanks do not fit into LETOR text")
    case = Case(kind, "arrays", tmp_path)
    data, model, scores = (tmp_path / name for name in (f"data.{form}", "m.plackett", "scores.txt"))
    pk.write(case.data, data)
    facts = json.loads(run("info", data, "--json"))
    assert (facts["n_queries"], facts["n_rows"], facts["n_features"]) == (N_QUERIES, N_ROWS, 2)
    run("convert", data, tmp_path / "again.plackett")
    assert case.q(pk.read(tmp_path / "again.plackett").qids) == list(range(N_QUERIES))
    run("train", "LinearRegression", data, "--out", model)
    run(
        "predict",
        model,
        data,
        "--out",
        scores,
        *(() if form == "txt" or kind == "strings" else ("--run", tmp_path / "a.run")),
    )
    case.data = pk.read(data)
    wanted = pk.LinearRegression().fit(case.data).predict(case.data)
    result = [float(line) for line in scores.read_text().split()]
    np.testing.assert_allclose(case.data.from_input_order(result), wanted, rtol=1e-6)
    means = json.loads(run("evaluate", data, scores, "-m", "nDCG@3", "--per-query", tmp_path / "q.csv", "--json"))
    assert means["mean"]["nDCG@3"] == pytest.approx(pk.evaluate(case.data, wanted, "nDCG@3").mean["nDCG@3"])
    # ids of a table are text where they are numbers to polars' reader
    assert case.q(pl.read_csv(tmp_path / "q.csv", infer_schema=False)["qid"]) == list(range(N_QUERIES))
    for qid in case.data.qids.tolist():
        (table,) = json.loads(run("explain", model, data, "--query", qid, "--json"))["tables"].values()
        assert len(table) == N_DOCS
    np.savetxt(tmp_path / "other.txt", case.other)
    assert json.loads(run("compare-runs", scores, tmp_path / "other.txt", "--data", data, "-m", "AP", "--json"))
    options = ("--folds", "3", "--search", "none", "--jobs", "1", "--json")
    record = json.loads(run("experiment", data, "-a", "LinearRegression", "-m", "AP", *options))
    assert set(case.q(row["qid"] for row in record["per_query"])) == set(range(N_QUERIES))
    if (tmp_path / "a.run").exists():
        pk.write_qrels(case.qrels, tmp_path / "a.qrels")
        pk.write_run(case.runs["y"], tmp_path / "b.run")
        runs = (tmp_path / "a.run", tmp_path / "b.run")
        result = json.loads(
            run("evaluate", "--qrels", tmp_path / "a.qrels", "--run", runs[0], "-m", "nDCG@3", "--json")
        )
        assert result["mean"]["nDCG@3"] == pytest.approx(means["mean"]["nDCG@3"])
        assert json.loads(run("compare-runs", *runs, "--qrels", tmp_path / "a.qrels", "-m", "AP", "--json"))
        run("fuse", *runs, "--out", tmp_path / "c.run", "--qrels", tmp_path / "a.qrels")
        assert set(case.q(pk.read_run(tmp_path / "c.run")["qid"])) == set(range(N_QUERIES))
