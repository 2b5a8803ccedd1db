"""Facts about the public benchmark datasets: a row of ``datasets.tsv`` each."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from importlib.resources import files

from plackett._base.errors import DataError

__all__ = ["DatasetInfo"]


@dataclass(frozen=True, kw_only=True)
class DatasetInfo:
    """Facts about one public dataset, and how its files are laid out on disk.

    Attributes
    ----------
    name, version, corpus, task
        Its name for `plackett.datasets.load`, the release it belongs to, the documents and what is searched for.
    n_queries, n_rows, n_features
        Counts as published; ``n_rows`` is None where the release does not state it.
    labels
        The grades, worst first; empty if the labels are positions in a total order.
    unjudged
        How documents without a judgement are labelled.
    n_folds
        5 for LETOR's rotation, 0 for a fixed split.
    split
        For a fixed split: queries and rows of each part.
    folders, files, variants
        Candidate folders below the data folder, candidate names of the file of a part inside it (with ``{fold}``
        and ``{part}``), and names of versions that have their own folders, the default first.
    transfer_from
        Dataset of the same series whose training part is the source of a transfer track.
    source, citation
        Where to get it, and what to cite.

    References
    ----------
    Qin, Liu, Xu, Li: LETOR: a benchmark collection for research on learning to rank for information retrieval.
    Information Retrieval 13, 2010.
    Chapelle, Chang: Yahoo! learning to rank challenge overview. JMLR W&CP 2011.
    """

    name: str
    version: str
    corpus: str
    task: str
    n_queries: int
    n_features: int
    labels: tuple[int, ...]
    unjudged: str
    n_rows: int | None
    n_folds: int
    split: dict[str, tuple[int, int]]
    folders: tuple[str, ...]
    files: tuple[str, ...]
    variants: tuple[str, ...]
    transfer_from: str | None
    source: str
    citation: str


def _read(row: dict[str, str]) -> DatasetInfo:
    """A row of ``datasets.tsv``; a bar separates the parts of a cell."""

    def parts(key: str) -> tuple[str, ...]:
        return tuple(row[key].split(" | ")) if row[key] else ()

    return DatasetInfo(
        name=row["name"],
        version=row["version"],
        corpus=row["corpus"],
        task=row["task"],
        n_queries=int(row["n_queries"]),
        n_rows=int(row["n_rows"]) if row["n_rows"] else None,
        n_features=int(row["n_features"]),
        labels=tuple(map(int, row["labels"].split())),
        unjudged=row["unjudged"],
        n_folds=int(row["n_folds"]),
        split={part: (int(queries), int(rows)) for part, queries, rows in map(str.split, parts("split"))},
        folders=parts("folders"),
        files=parts("files"),
        variants=parts("variants"),
        transfer_from=row["transfer_from"] or None,
        source=row["source"],
        citation=row["citation"],
    )


_TABLE = files("plackett.datasets").joinpath("datasets.tsv").read_text("utf-8").splitlines()
_ALL = tuple(map(_read, csv.DictReader(_TABLE, delimiter="\t", quoting=csv.QUOTE_NONE)))

#: The datasets by name.
DATASETS = {dataset.name: dataset for dataset in _ALL}


def info(name: str) -> DatasetInfo:
    """Facts about a dataset; case and punctuation of the name do not matter.

    >>> info("MSLR WEB10K").n_features
    136
    """
    wanted = _plain(name)
    for dataset in _ALL:
        if _plain(dataset.name) == wanted:
            return dataset
    raise DataError(f"unknown dataset {name!r}; the datasets are {', '.join(DATASETS)}")


def _plain(name: str) -> str:
    return "".join(c for c in name.lower() if c.isalnum())
