"""Relations, query features and source domains on the command line."""

from __future__ import annotations

import json

import numpy as np
import pytest

import plackett as pk
from plackett.data.scores import read_scores
from plackett.datasets import clustered_lists


def write(data, path, docids=True):
    lines = [
        f"{data.labels[i]:g} qid:{data.qid[i]} 1:{data.X[i, 0]} 2:{data.X[i, 1]}" + f" #docid = d{i}" * docids
        for i in range(data.n_rows)
    ]
    path.write_text("\n".join(lines) + "\n")
    return pk.read_letor(path)


def pairs_file(data, path, name="similarity", docids=True):
    relation = clustered_lists(12, seed=0).relations[name]
    position = np.arange(data.n_rows) - data.offsets[data.query_of_row] + 1
    called = (lambda i: f"d{i}") if docids else (lambda i: position[i])
    lines = [f"{data.qid[i]} {called(i)} {called(j)}" for i, j in relation.to_pairs()]
    path.write_text("# query document document\n\n" + "\n".join([*lines, "unknown a b 3"]) + "\n")


@pytest.mark.parametrize("docids", [True, False], ids=["ids", "places"])
def test_a_relation_from_a_file(run, tmp_path, docids):
    made = clustered_lists(12, seed=0)
    data = write(made, tmp_path / "train.txt", docids)
    pairs_file(data, tmp_path / "alike.txt", docids=docids)
    relation = f"similarity={tmp_path / 'alike.txt'}"
    model, scores = tmp_path / "m.plackett", tmp_path / "scores.txt"
    arguments = ("-p", "beta=0.5", "-p", "n_jobs=1", "--relation", relation)
    code, _, err = run(
        "train", "RelationalFeedback(base='LinearRegression')", tmp_path / "train.txt", "--out", model, *arguments
    )
    assert code == 0, err
    assert "relation similarity: " in err and "in 12 of 12 queries" in err
    code, _, err = run("predict", model, tmp_path / "train.txt", "--out", scores)
    assert code == 1 and "Pass --relation similarity=FILE" in err
    code, _, err = run("predict", model, tmp_path / "train.txt", "--out", scores, "--relation", relation)
    assert code == 0, err
    data = data.replace(relations={"similarity": made.relations["similarity"]})
    ranker = pk.RelationalFeedback(base="LinearRegression", beta=0.5).fit(data)
    assert np.allclose(read_scores(scores), data.to_input_order(ranker.predict(data)), atol=1e-6)
    code, _, err = run("predict", model, tmp_path / "train.txt", "--out", scores, "--force")
    assert code == 1 and "'similarity'" in err


@pytest.mark.parametrize(
    ("relation", "expected"),
    [
        ("similarity=knn:2", lambda data, folder: pk.Neighbours(k=2)(data)),
        ("similarity=url", lambda data, folder: pk.parent_relation(data)),
        ("similarity=links:links.txt", lambda data, folder: pk.Relation.from_ids(data, ["0"], ["d0"], ["d1"])),
        ("similarity=groups:groups.txt", lambda data, folder: pk.hyperedges(data, [(0, "x"), (2, "x")])),
    ],
)
def test_relations_that_are_built_and_kept_in_the_native_file(run, tmp_path, monkeypatch, relation, expected):
    monkeypatch.chdir(tmp_path)
    data = write(clustered_lists(2, seed=0), tmp_path / "a.txt")
    (tmp_path / "links.txt").write_text("d0 d1\nd0 d39\n")
    (tmp_path / "groups.txt").write_text("query,document,brand\n0,d0,x\n0,d2,x\n0,d3,y\n")
    code, _, err = run("convert", "a.txt", "a.plackett", "--relation", relation)
    assert code == 0, err
    result = pk.read("a.plackett").relations["similarity"]
    wanted = expected(data, tmp_path)
    assert result.to_pairs().tolist() == wanted.to_pairs().tolist()
    assert np.array_equal(result.weights, wanted.weights)


def test_query_features_from_a_file_or_columns(run, tmp_path):
    rng = np.random.default_rng(0)
    data = write(clustered_lists(12, seed=0), tmp_path / "train.txt", False)
    z = rng.normal(size=(12, 2)).round(3)
    lines = [f"{q}\t{a}\t{b}" for q, (a, b) in zip(data.qids, z, strict=True)]
    (tmp_path / "z.tsv").write_text("query_id\tfirst\tsecond\n" + "\n".join(lines[::-1]) + "\n")
    model = tmp_path / "m.plackett"
    arguments = ("train", "TwoLayer(base='LinearRegression')")
    code, _, err = run(*arguments, tmp_path / "train.txt", "--out", model, "--query-features", tmp_path / "z.tsv")
    assert code == 0, err
    code, _, err = run(
        "predict", model, tmp_path / "train.txt", "--out", tmp_path / "s.txt", "--query-features", tmp_path / "z.tsv"
    )
    assert code == 0, err
    code, _, err = run("predict", model, tmp_path / "train.txt", "--out", tmp_path / "t.txt")
    assert code == 1 and "pass the --query-features of training" in err
    whole = data.replace(query_features=z.astype(np.float32))
    ranker = pk.TwoLayer(base="LinearRegression").fit(whole)
    assert np.allclose(read_scores(tmp_path / "s.txt"), whole.to_input_order(ranker.predict(whole)), atol=1e-6)
    frame = data.to_polars().with_columns(first=np.repeat(z[:, 0], data.group), second=np.repeat(z[:, 1], data.group))
    frame.write_csv(tmp_path / "train.csv")
    code, _, err = run(
        *arguments, tmp_path / "train.csv", "--out", model, "--force", "--query-features", "first,second"
    )
    assert code == 0, err
    code, _, err = run(*arguments, tmp_path / "train.csv", "--out", model, "--force", "--query-features", "firs")
    assert code == 1 and "--query-features: there is no column 'firs'" in err
    code, _, err = run(*arguments, tmp_path / "train.txt", "--out", model, "--force", "--query-features", "first")
    assert code == 1 and "--query-features names a column" in err


def test_sources_and_domains(run, tmp_path):
    target, other = (write(clustered_lists(n, seed=n), tmp_path / f"{n}.txt", False) for n in (4, 12))
    arguments = (
        "train",
        "PooledTransfer(base='LinearRegression')",
        tmp_path / "4.txt",
        "--out",
        tmp_path / "m.plackett",
    )
    code, out, err = run(*arguments, "--source", f"fr={tmp_path / '12.txt'}", "--json")
    assert code == 0 and '"fr": 12' in out, err
    model = pk.load(tmp_path / "m.plackett")
    expected = pk.PooledTransfer(base="LinearRegression").fit(target, source={"fr": other})
    assert np.array_equal(model.predict(target), expected.predict(target))
    (tmp_path / "domains.txt").write_text("".join(f"{q} {'be' if i < 3 else 'fr'}\n" for i, q in enumerate(other.qids)))
    arguments = (
        "train",
        "PooledTransfer(base='LinearRegression')",
        tmp_path / "12.txt",
        "--out",
        tmp_path / "d.plackett",
    )
    code, out, err = run(*arguments, "--domain", tmp_path / "domains.txt", "--target", "be")
    assert code == 0 and "transfer from fr (9 queries), not compared with the target alone (--valid)" in out, err
    code, out, err = run(*arguments, "--force", "--source", tmp_path / "12.txt", "--valid", tmp_path / "4.txt")
    assert code == 0 and "transfer from 12 (12 queries); kept: t" in out, err
    code, out, err = run(*arguments, "--force", "--domain", tmp_path / "domains.txt", "--target", "be")
    names = ["be"] * 3 + ["fr"] * 9
    expected = pk.PooledTransfer(base="LinearRegression").fit(other, domain=names, target="be")
    assert np.array_equal(pk.load(tmp_path / "d.plackett").predict(target), expected.predict(target))
    for bad, message in (
        (("--source", tmp_path / "none.txt"), "there is no such file"),
        (("--source", tmp_path / "12.txt", "--source", tmp_path / "12.txt"), "two sources are called 12"),
        (("--domain", tmp_path / "domains.txt"), "name the domain to rank for"),
        (("--target", "be"), "one of the domains of --domain"),
        (("--source", tmp_path / "12.txt", "--domain", tmp_path / "domains.txt"), "either --source or --domain"),
        (("--source", tmp_path / "12.txt", "--impute", "median"), "not filled in"),
    ):
        code, _, err = run(*arguments, "--force", *bad)
        assert code == 2 and message in " ".join(err.replace("│", " ").split()), (bad, err)
    code, _, err = run("train", "RankSVM", *arguments[2:], "--force", "--source", tmp_path / "4.txt")
    assert code == 2 and "one domain" in err


def test_an_experiment_with_a_relation(run, tmp_path):
    data = write(clustered_lists(12, seed=0), tmp_path / "train.txt")
    pairs_file(data, tmp_path / "alike.txt")
    (tmp_path / "folds").mkdir()
    lines = (tmp_path / "train.txt").read_text().splitlines(keepends=True)
    for part, queries in (("train", range(6)), ("vali", range(6, 9)), ("test", range(9, 12))):
        own = [line for i, line in enumerate(lines) if data.query_of_row[i] in queries]
        (tmp_path / "folds" / f"{part}.txt").write_text("".join(own))
    ranker = "RelationalFeedback(base='LinearRegression', beta=0.5)"
    arguments = ("-a", ranker, "-a", "LinearRegression", "--search", "none", "--json", "--jobs", 1)
    relation = ("--relation", f"similarity={tmp_path / 'alike.txt'}")
    for source, more in ((tmp_path / "train.txt", ("--folds", 3)), (tmp_path / "folds", ())):
        code, out, err = run("experiment", source, *arguments, *more, *relation)
        assert code == 0, err
        assert not json.loads(out).get("failures")
        assert run("experiment", source, *arguments, *more)[0] == 1, "the ranker needs the relation"
    code, _, err = run("experiment", "mq2008", *arguments, *relation)
    assert code == 2 and "public dataset" in err


def test_mistakes_in_options(run, tmp_path):
    write(clustered_lists(2, seed=0), tmp_path / "a.txt")
    for text, message in (
        ("similarity", "write NAME=FILE"),
        ("=knn:3", "write NAME=FILE"),
        ("similarity=", "write NAME=FILE"),
        ("similarity=knn:x", "number of neighbours"),
        ("similarity=knn:0", "number of neighbours"),
        ("similarity=none.txt", "there is no file"),
    ):
        code, _, err = run("convert", tmp_path / "a.txt", tmp_path / "b.plackett", "--relation", text)
        assert code == 2 and message in " ".join(err.replace("│", " ").split()), (text, err)
    twice = ("--relation", "similarity=knn:1", "--relation", "similarity=knn:2")
    code, _, err = run("convert", tmp_path / "a.txt", tmp_path / "b.plackett", *twice)
    assert code == 2 and "similarity is given twice" in " ".join(err.replace("│", " ").split()), err
