"""Click models on real logs beside PyClick, speed on a large simulated log, and relevance beside human grades.

    python benchmarks/clicks.py speed
    python benchmarks/clicks.py yandex --train TRAIN --test TEST [--pyclick CHECKOUT] [--pages 5000]
    python benchmarks/clicks.py grades --log CLARA2SearchLog --grades CLARA2QueryUrlRelevance

Times are CPU seconds of this process: divide by the number of cores for an idle machine. PyClick
(github.com/markovi/PyClick) is read from a checkout and not part of this repository.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import time
from collections.abc import Iterator

import numpy as np
import polars as pl

from plackett.clicks.compare import compare_models, relevance_quality
from plackett.clicks.loading import make_model
from plackett.clicks.log import ClickLog
from plackett.clicks.models.ctr import IndependentClickModel
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
        start, wall = time.process_time(), time.perf_counter()
        make_model(name, max_iter=20, tol=0).fit(log)
        print(f"{name:18} {time.process_time() - start:8.2f} {time.perf_counter() - wall:8.2f}")


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
        module, cls = PEERS[name].split(".")
        peer = getattr(importlib.import_module(f"pyclick.click_models.{module}"), cls)()
        start = time.process_time()
        peer.train(theirs_train)
        seconds = time.process_time() - start
        value = evaluation.LogLikelihood().evaluate(peer, theirs_test) * test.lengths.mean()
        mean, _ = evaluation.Perplexity().evaluate(peer, theirs_test)
        start = time.process_time()
        ours = make_model(name, max_iter=50, tol=0).fit(train)
        own = time.process_time() - start
        print(
            f"{cls:16} {value:14.4f} {mean:10.4f} {seconds:8.2f}   {ours.perplexity(test).mean:.4f} {own:8.3f} "
            f"{seconds / max(own, 1e-9):8.0f}",
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
    part = parts.add_parser("yandex")
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
