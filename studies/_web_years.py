"""The TREC Web runs of 2012, re-ranked by what the judgements of earlier years say about documents."""

from __future__ import annotations

import os
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from plackett.evaluation.significance.fisher import fisher
from studies.base import Study

if TYPE_CHECKING:
    import polars as pl

MEASURES = ("alpha_nDCG@20", "ERR_IA@20")
#: Years with the same crawl as 2012 whose files also list documents that are not relevant.
YEARS = {"2009": "qrels.diversity", "2011": "qrels-for-ndeval.txt"}
#: Number of judgements that the rate of the next wider part of the crawl counts for.
_PRIOR_COUNT = 10.0


def web_track_years(folder: str | os.PathLike[str], *, depth: int = 100) -> Study:
    r"""Re-rank the eight baseline runs of 2012 by rates learned from the judgements of 2009 and 2011.

    An id of the crawl names the part (Wikipedia is one of them) and the file of a document. From the earlier years come
    the rate of relevant documents of each part, file and document, each smoothed by the next wider one, and how
    often a relevant document serves a subtopic that the relevant documents of its file judged so far do not. Nothing is
    fitted to 2012: the scores of the runs are mean log-likelihoods of the query's words, so Bayes' rule adds

    .. math:: n_q\, s(q, d) + \log P(\text{relevant} \mid d) + \log P(\text{new} \mid \text{file above or not}).

    Parameters
    ----------
    folder
        Folder with ``runs-2012/*.txt`` and the judgements of the years.
    depth
        Documents of the top of each run that are reordered.
    """
    import polars as pl

    from plackett.data.trec import read_run
    from plackett.data.trec_diversity import read_diversity_qrels
    from plackett.evaluation.evaluate_run import evaluate_run

    root = Path(folder)
    judged = pl.concat([_judged(root / year / name, year) for year, name in YEARS.items()])
    rates = _Rates(judged)
    lengths = _query_lengths(root / "2012" / "queries.151-200.txt")
    qrels = read_diversity_qrels(root / "2012" / "qrels-for-ndeval.txt")
    rows = []
    for path in sorted((root / "runs-2012").glob("*.txt")):
        run = read_run(path)
        before = evaluate_run(qrels, run, list(MEASURES), subtopics=True).values
        for name, novelty in (("rate of relevant documents", False), ("rate and novelty", True)):
            after = evaluate_run(qrels, _reranked(run, rates, lengths, depth, novelty), list(MEASURES), subtopics=True)
            row: dict[str, Any] = {"run": path.stem, "added": name}
            for measure, old, new in zip(MEASURES, before.values(), after.values.values(), strict=True):
                row |= {f"{measure} before": float(old.mean()), f"{measure} after": float(new.mean())}
                row[f"p ({measure})"] = fisher(new, old).pvalue
            rows.append(row)
    notes = (
        f"{rates.n_judged} judged pairs of query and document of 2009 and 2011, {rates.overall:.3f} of them relevant; "
        f"Wikipedia {rates.of_wikipedia:.3f}. A relevant document serves a subtopic that those before it do not with "
        f"probability {rates.new[0]:.3f}, and {rates.new[1]:.3f} if one of them is of the same file. p of a two-sided "
        "paired randomisation test, not corrected for the number of comparisons.",
    )
    return Study(pl.DataFrame(rows), "The TREC Web runs of 2012, before and after what earlier years say", notes)


def _parts(ids: pl.Series) -> pl.DataFrame:
    """The part of the crawl and the file of each document: clueweb09-enwp00-12-03456 is of enwp00, file 12."""
    import polars as pl

    fields = ids.str.split("-")
    part = fields.list.get(1).str.replace(r"^enwp.*", "enwp")
    file = fields.list.get(1) + "-" + fields.list.get(2)
    return pl.DataFrame({"docid": ids, "part": part, "file": file})


def _judged(path: Path, year: str) -> pl.DataFrame:
    """One row per judged query, document and subtopic served; the subtopic is null if there is none."""
    import polars as pl

    lines = [line.split() for line in path.read_text().splitlines()]
    frame = pl.DataFrame(lines, schema=["qid", "subtopic", "docid", "label"], orient="row")
    served = (pl.col("label").cast(pl.Int64) > 0) & (pl.col("subtopic") != "0")
    return frame.select(
        "docid", qid=pl.lit(f"{year}-") + pl.col("qid"), subtopic=pl.when(served).then(pl.col("subtopic"))
    )


class _Rates:
    """Rates of relevant documents by part of the crawl, file and document; how often a document says something new."""

    def __init__(self, judged: pl.DataFrame) -> None:
        import polars as pl

        table = judged.group_by("qid", "docid", maintain_order=True).agg(pl.col("subtopic").drop_nulls().unique())
        table = table.with_columns(relevant=pl.col("subtopic").list.len() > 0).join(
            _parts(table["docid"].unique()), on="docid"
        )
        self.n_judged, self.overall = table.height, float(table["relevant"].mean())  # type: ignore[arg-type]
        self.by: dict[str, dict[str, tuple[int, int]]] = {}
        for level in ("part", "file", "docid"):
            counts = table.group_by(level).agg(pl.col("relevant").sum().alias("good"), pl.len().alias("n"))
            self.by[level] = {name: (good, n) for name, good, n in counts.iter_rows()}
        good, n = self.by["part"]["enwp"]
        self.of_wikipedia = good / n
        self.new = self._novelty(table.filter("relevant").sort("qid", "docid"))

    @staticmethod
    def _novelty(relevant: pl.DataFrame) -> tuple[float, float]:
        """Rate of relevant documents with a new subtopic, alone in their file so far and not, in a random order."""
        hits, totals = [0, 0], [0, 0]
        rng = np.random.default_rng(0)
        for (_,), part in relevant.group_by("qid", maintain_order=True):
            seen: set[str] = set()
            files: set[str] = set()
            order = rng.permutation(part.height).tolist()
            for rank, i in enumerate(order):
                subtopics, file = set(part["subtopic"][i]), part["file"][i]
                if rank:
                    kind = int(file in files)
                    totals[kind] += 1
                    hits[kind] += bool(subtopics - seen)
                seen |= subtopics
                files.add(file)
        return (hits[0] + 1) / (totals[0] + 2), (hits[1] + 1) / (totals[1] + 2)

    def log_rate(self, docids: pl.Series) -> np.ndarray:
        """Logarithm of the smoothed rate of each document."""
        rate = np.full(len(docids), self.overall)
        for level, names in zip(("part", "file", "docid"), _parts(docids).select("part", "file", "docid"), strict=True):
            known = self.by[level]
            good, n = np.array([known.get(name, (0, 0)) for name in names.to_list()], float).reshape(-1, 2).T
            rate = (good + _PRIOR_COUNT * rate) / (n + _PRIOR_COUNT)
        return np.log(rate)


def _query_lengths(path: Path) -> dict[str, int]:
    """Number of words of each query."""
    lines = (line.partition(":") for line in path.read_text().splitlines() if line.strip())
    return {qid: len(text.split()) for qid, _, text in lines}


def _reranked(run: pl.DataFrame, rates: _Rates, lengths: dict[str, int], depth: int, novelty: bool) -> pl.DataFrame:
    import polars as pl

    ranked = run.sort("qid", "score", "docid", descending=[False, True, True])
    ranked = ranked.with_columns(pl.int_range(pl.len()).over("qid").alias("rank"))
    top = ranked.filter(pl.col("rank") < depth)
    length = np.array([lengths[str(qid)] for qid in top["qid"].to_list()])
    value = length * top["score"].to_numpy() + rates.log_rate(top["docid"])
    if novelty:
        value = _in_turn(top["qid"].to_list(), _parts(top["docid"])["file"].to_list(), value, rates.new)
    best = top.select("qid", "docid").with_columns(score=pl.Series(value))
    rest = ranked.filter(pl.col("rank") >= depth).select("qid", "docid", score=-1e6 - pl.col("rank"))
    return pl.concat([best, rest])


def _in_turn(qid: list[str], file: list[str], value: np.ndarray, new: tuple[float, float]) -> np.ndarray:
    """Scores of a greedy order: at each rank the best remaining document."""
    out = np.empty(len(qid))
    bounds = [0, *(i for i in range(1, len(qid)) if qid[i] != qid[i - 1]), len(qid)]
    for lo, hi in pairwise(bounds):
        left = list(range(lo, hi))
        above: set[str] = set()
        for rank in range(hi - lo):
            best = max(left, key=lambda i: value[i] + np.log(new[file[i] in above]))
            left.remove(best)
            above.add(file[best])
            out[best] = -float(rank)
    return out
