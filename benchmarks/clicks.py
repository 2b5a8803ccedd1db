"""Click models on real logs beside PyClick, speed beside PyClick and CLAX, and relevance beside human grades.

    python benchmarks/clicks.py speed
    python benchmarks/clicks.py peers [--pyclick CHECKOUT] [--clax PYTHON]
    python benchmarks/clicks.py yandex --train TRAIN --test TEST [--pyclick CHECKOUT] [--passes 50] [--pages 5000]
    python benchmarks/clicks.py grades --log CLARA2SearchLog --grades CLARA2QueryUrlRelevance

Times are CPU seconds of a process, all its threads together; set OMP_NUM_THREADS=1, or idle threads of the linear
algebra library count too. PyClick (github.com/markovi/PyClick) is read from a
checkout; CLAX (clax-models 0.1.1 with jax 0.7.2) is run by the Python of an environment that has it. Neither is part of
this repository.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from plackett.clicks.compare import compare_models, relevance_quality
from plackett.clicks.loading import make_model
from plackett.clicks.log import ClickLog
from plackett.clicks.models.ctr import IndependentClickModel
from plackett.clicks.pairs import PairTable
from plackett.clicks.reading import read_clicks

#: Our model to PyClick's class.
PEERS = {
    "GlobalCTR": "CTR.GCTR",
    "RankCTR": "CTR.RCTR",
    "ICM": "CTR.DCTR",
    "Cascade": "CM.CM",
    "DCMClosedForm": "DCM.DCM",
    "SDBNCounting": "SDBN.SDBN",
    "PBM": "PBM.PBM",
    "UBM": "UBM.UBM",
    "CCM": "CCM.CCM",
    "DBN": "DBN.DBN",
}


def large_log(n_pages: int, n_pairs: int, length: int = 10, per_query: int = 15) -> ClickLog:
    """Shuffled pages of ten with clicks of users who examine rank i with probability 1 / i."""
    rng = np.random.default_rng(0)
    query = rng.integers(0, n_pairs // per_query, n_pages)
    lists = np.argsort(rng.random((n_pages, per_query)), axis=1)[:, :length] + query[:, None] * per_query
    attraction = rng.beta(1, 4, n_pairs)
    clicks = rng.random(lists.shape) < attraction[lists] / np.arange(1, length + 1)
    return ClickLog.from_arrays(query, lists, clicks)


def speed(arguments: argparse.Namespace) -> None:
    log = large_log(arguments.n_pages, arguments.n_pairs)
    print(f"{log}; 20 passes each")
    small = log.select(np.arange(200))
    print(f"{'model':18} {'CPU s':>8} {'wall s':>8}")
    for name in ("PBM", "UBM", "DCM", "DBN", "SDBN", "CCM"):
        make_model(name, max_iter=2).fit(small)  # compiles
        fresh = replace(log)  # nothing is known of it yet
        start, wall = time.process_time(), time.perf_counter()
        make_model(name, max_iter=20, tol=0).fit(fresh)
        print(f"{name:18} {time.process_time() - start:8.2f} {time.perf_counter() - wall:8.2f}")


def peers(arguments: argparse.Namespace) -> None:
    """Time per page and pass beside PyClick, and to the same held-out loss beside CLAX, on one simulated log."""
    log = large_log(arguments.n_pages, arguments.n_pairs)
    train, test = log.split(0.9, random_state=0)
    numbering = PairTable.of(log)
    print(f"train {train}\ntest {test}")
    for name in arguments.model or ("PBM", "UBM", "DBN"):
        make_model(name, max_iter=2).fit(log.select(np.arange(200)))  # compiles
        fresh = replace(train)  # the pairs are numbered anew, within the time
        start = time.process_time()
        make_model(name, max_iter=20, tol=0).fit(fresh)
        own = time.process_time() - start
        print(f"{name}: plackett, 20 passes over {train.n_pages:,} pages: {own:.2f} CPU s", flush=True)
        if arguments.pyclick:
            sys.path.insert(0, arguments.pyclick)
            part = train.select(np.arange(arguments.pyclick_pages))
            theirs = list(sessions(part))
            peer = peer_model(name, arguments.pyclick_passes)
            start = time.process_time()
            peer.train(theirs)
            seconds = time.process_time() - start
            page_pass = seconds / part.n_pages / arguments.pyclick_passes
            print(
                f"  PyClick, {arguments.pyclick_passes} passes over {part.n_pages:,} pages: {seconds:.2f} CPU s; "
                f"per page and pass {page_pass * 1e6:.0f} µs against {own / train.n_pages / 20 * 1e6:.3f} µs: "
                f"{page_pass / (own / train.n_pages / 20):,.0f} times",
                flush=True,
            )
        if arguments.clax:
            clax(arguments, name, train, test, numbering)


def clax(arguments: argparse.Namespace, name: str, train: ClickLog, test: ClickLog, numbering: PairTable) -> None:
    """CLAX until its held-out loss rises, and our time to a loss as low as its best."""
    arrays: dict[str, np.ndarray] = {"n_pairs": np.array(len(numbering))}
    for part, log in (("train", train), ("test", test)):
        arrays[f"{part}_pairs"] = numbering.in_log(log)[log.pair].reshape(log.n_pages, -1).astype(np.int32)
        arrays[f"{part}_clicks"] = log.clicked.reshape(log.n_pages, -1)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "log.npz")
        np.savez(path, **arrays)
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "clicks_clax.py")
        for rate in arguments.clax_rate or (0.003, 0.03):
            words = [arguments.clax, script, path, name, str(arguments.clax_epochs), str(rate)]
            done = subprocess.run(words, env=os.environ | {"JAX_PLATFORMS": "cpu"}, capture_output=True, text=True)
            epochs = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
            if not epochs:
                raise SystemExit(done.stderr)
            best = min(epochs, key=lambda epoch: epoch["loss"])
            for passes in (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 30, 50):
                fresh = replace(train)
                start = time.process_time()
                model = make_model(name, max_iter=passes, tol=0).fit(fresh)
                own = time.process_time() - start
                chance = np.clip(model.conditional_probabilities(test), 1e-6, 1 - 1e-6)
                loss = -float(np.log(np.where(test.clicked, chance, 1 - chance)).mean())
                if loss <= best["loss"]:
                    break
            print(
                f"  CLAX, learning rate {rate}: best held-out loss {best['loss']:.5f} after epoch {best['epoch']} of "
                f"{len(epochs)}, {best['seconds']:.2f} CPU s ({epochs[0]['seconds']:.2f} the first); ours {loss:.5f} "
                f"after {passes} passes, {own:.2f} CPU s: {best['seconds'] / own:.1f} times",
                flush=True,
            )


def peer_model(name: str, passes: int) -> Any:
    """A model of PyClick."""
    module, cls = PEERS[name].split(".")
    peer = getattr(importlib.import_module(f"pyclick.click_models.{module}"), cls)()
    if hasattr(getattr(peer, "_inference", None), "iter_num"):
        peer._inference.iter_num = passes
    return peer


def sessions(log: ClickLog) -> Iterator[object]:
    session = importlib.import_module("pyclick.search_session.SearchSession").SearchSession
    result = importlib.import_module("pyclick.search_session.SearchResult").SearchResult
    queries, documents = log.queries[log.query].tolist(), log.documents[log.document].tolist()
    for page, query in enumerate(queries):
        made = session(query)
        for row in range(log.offsets[page], log.offsets[page + 1]):
            made.web_results.append(result(documents[row], int(log.clicked[row])))
        yield made


def yandex(arguments: argparse.Namespace) -> None:
    train, test = read_clicks(arguments.train), read_clicks(arguments.test)
    if arguments.pages:
        train, test = train.select(np.arange(arguments.pages)), test.select(np.arange(arguments.pages))
    test = ClickLog.concat([train.select([]), test])  # one numbering of ids
    found = compare_models(train, test)
    print(f"train {train}\ntest {test}")
    with pl.Config(tbl_rows=40, float_precision=4, tbl_cols=12, tbl_width_chars=160):
        print(
            found.frame.select("model", "log_likelihood", "perplexity", "conditional_perplexity", "passes", "seconds")
        )
    if not arguments.pyclick:
        return
    sys.path.insert(0, arguments.pyclick)
    evaluation = importlib.import_module("pyclick.click_models.Evaluation")
    theirs_train, theirs_test = list(sessions(train)), list(sessions(test))
    known = {session.query for session in theirs_train}
    theirs_test = [session for session in theirs_test if session.query in known]
    print(
        f"{'PyClick':16} {'log-likelihood':>14} {'perplexity':>10} {'CPU s':>8}   ours: perplexity, CPU s, times faster"
    )
    for name in arguments.model or PEERS:
        peer = peer_model(name, arguments.passes)
        start = time.process_time()
        peer.train(theirs_train)
        seconds = time.process_time() - start
        value = evaluation.LogLikelihood().evaluate(peer, theirs_test) * test.lengths.mean()
        mean, _ = evaluation.Perplexity().evaluate(peer, theirs_test)
        start = time.process_time()
        ours = make_model(name, max_iter=arguments.passes, tol=0).fit(train)
        own = time.process_time() - start
        print(
            f"{type(peer).__name__:16} {value:14.4f} {mean:10.4f} {seconds:8.2f}   "
            f"{ours.perplexity(test).mean:.4f} {own:8.3f} {seconds / max(own, 1e-9):8.0f}",
            flush=True,
        )


def grades(arguments: argparse.Namespace) -> None:
    log = read_clicks(arguments.log)
    table = pl.read_csv(arguments.grades, separator="\t", schema_overrides=[pl.String, pl.String, pl.Int64])
    judged = table.rename(dict(zip(table.columns, ("qid", "docid", "label"), strict=True)))
    judged = judged.unique(["qid", "docid"], keep="first")
    found = compare_models(log, log, grades=judged, measure=arguments.measure)
    raw = IndependentClickModel(prior=None).fit(log)
    counts = IndependentClickModel(prior=None).fit(log)
    counts.attraction_ = counts.clicks_ / (counts.clicks_.max() + 1)
    with pl.Config(tbl_rows=40, float_precision=4):
        print(found.frame.select("model", arguments.measure).sort(arguments.measure, descending=True))
    for name, model in (("clicks per impression", raw), ("number of clicks", counts)):
        print(f"{name:24} {relevance_quality(model, judged, arguments.measure):.4f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = parser.add_subparsers(required=True)
    part = parts.add_parser("speed")
    part.add_argument("--n-pages", type=int, default=1_000_000)
    part.add_argument("--n-pairs", type=int, default=500_010)
    part.set_defaults(run=speed)
    part = parts.add_parser("peers")
    part.add_argument("--n-pages", type=int, default=1_000_000)
    part.add_argument("--n-pairs", type=int, default=500_010)
    part.add_argument("--model", action="append", choices=["PBM", "UBM", "DBN"])
    part.add_argument("--pyclick", help="checkout of PyClick")
    part.add_argument("--pyclick-pages", type=int, default=2_000)
    part.add_argument("--pyclick-passes", type=int, default=2)
    part.add_argument("--clax", help="python of an environment with CLAX")
    part.add_argument("--clax-epochs", type=int, default=50)
    part.add_argument("--clax-rate", type=float, action="append", help="learning rates; .003, CLAX's example, and .03")
    part.set_defaults(run=peers)
    part = parts.add_parser("yandex")
    part.add_argument("--passes", type=int, default=50, help="passes of EM")
    part.add_argument("--train", required=True)
    part.add_argument("--test", required=True)
    part.add_argument("--pyclick")
    part.add_argument("--pages", type=int)
    part.add_argument("--model", action="append", choices=list(PEERS))
    part.set_defaults(run=yandex)
    part = parts.add_parser("grades")
    part.add_argument("--log", required=True)
    part.add_argument("--grades", required=True)
    part.add_argument("--measure", default="nDCG@10")
    part.set_defaults(run=grades)
    arguments = parser.parse_args()
    arguments.run(arguments)


if __name__ == "__main__":
    main()
