"""The studies of relations and of diversity: what their data promise, and what they find."""

from __future__ import annotations

import numpy as np
import pytest

from plackett.datasets import clustered_lists, site_lists
from studies.diversity import ambiguous_lists, diversity, web_track, web_track_years
from studies.relational import relational


@pytest.mark.parametrize("informative", [True, False])
def test_planted_relations(informative):
    data = clustered_lists(6, informative=informative)
    pairs = data.relations["similarity"]
    same = data.y[pairs.row] == data.y[pairs.other]
    assert same.all() == informative
    members = data.relations["hyperedge"]
    assert np.bincount(members.other)[members.other].tolist() == [4] * data.n_rows
    sites = site_lists(6, informative=informative)
    parents = sites.relations["parent"]
    assert (sites.y[parents.row] == 0).all() == informative


def test_planted_meanings():
    data = ambiguous_lists(4)
    assert (data.subtopics.sum(axis=1) == data.y).all()
    near = data.relations["similarity"]
    assert near.weights.max() <= 1.0


def test_web_track_on_a_small_copy(tmp_path):
    (tmp_path / "runs-2012").mkdir()
    (tmp_path / "2012").mkdir()
    rng = np.random.default_rng(0)
    docs = [f"clueweb09-en000{i % 3}-0{i % 2}-{i:05d}" for i in range(12)]
    for name in ("a", "b"):
        lines = [f"{q} Q0 {d} 1 {s:.4f} t\n" for q in range(1, 13) for d, s in zip(docs, rng.random(12), strict=True)]
        (tmp_path / "runs-2012" / f"{name}.txt").write_text("".join(lines))
    qrels = [f"{q} {s} {d} {int(rng.random() < 0.4)}\n" for q in range(1, 13) for s in (1, 2) for d in docs]
    (tmp_path / "2012" / "qrels-for-ndeval.txt").write_text("".join(qrels))
    study = web_track(tmp_path, n_folds=3, n_jobs=1)
    assert study.frame["method"].to_list() == ["a", "b", "ListMLE", "MMR", "Repulsion", "SequentialDiversity"]
    assert study.frame["alpha_nDCG@20"].is_between(0, 1.6).all()


@pytest.mark.full
def test_relations_help_where_they_say_something():
    frame = relational(n_queries=30, n_jobs=1).frame
    methods = frame.filter(frame["ranker"] != "the ranker alone")
    assert methods.filter(methods["relations"].is_in(["similar documents", "entry pages"]))["gain"].min() > 0.05
    assert methods.filter(methods["relations"].str.contains("random"))["gain"].abs().max() < 0.05


@pytest.mark.full
def test_novelty_is_learned():
    frame = diversity(n_queries=30, n_jobs=1).frame
    changes = dict(zip(frame["method"], frame["change"], strict=True))
    assert changes["SequentialDiversity"] > 0.02


def test_web_track_by_other_years(tmp_path):
    """Documents of one part of the crawl were relevant in other years: they move up in 2012."""
    good, bad = (
        [f"clueweb09-en0001-{i % 3:02}-{i:05}" for i in range(12)],
        [f"clueweb09-enwp01-00-{i:05}" for i in range(12)],
    )
    for year in ("2009", "2011", "2012"):
        (tmp_path / year).mkdir()
        lines = [f"{q} {1 + i % 3} {d} 1" for q in (151, 152) for i, d in enumerate(good)]
        lines += [f"{q} {'0' if year == '2009' else '1'} {d} 0" for q in (151, 152) for d in bad]
        name = "qrels.diversity" if year == "2009" else "qrels-for-ndeval.txt"
        (tmp_path / year / name).write_text("\n".join(lines) + "\n")
    (tmp_path / "2012" / "queries.151-200.txt").write_text("151:two words\n152:one\n")
    (tmp_path / "runs-2012").mkdir()
    mixed = [d for pair in zip(bad, good, strict=True) for d in pair]
    run = [f"{q} Q0 {d} {i + 1} {-1 - 0.01 * i} x" for q in (151, 152) for i, d in enumerate(mixed)]
    (tmp_path / "runs-2012" / "a.txt").write_text("\n".join(run) + "\n")
    table = web_track_years(tmp_path, depth=20).frame
    assert table.height == 2
    assert (table["alpha_nDCG@20 after"] > table["alpha_nDCG@20 before"]).all()
    assert (table["ERR_IA@20 after"] > table["ERR_IA@20 before"]).all()
