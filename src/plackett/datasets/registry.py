"""Facts about the public benchmark datasets, in one table."""

from __future__ import annotations

from dataclasses import dataclass, field

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
    folders: tuple[str, ...]
    source: str
    citation: str
    n_rows: int | None = None
    n_folds: int = 5
    split: dict[str, tuple[int, int]] = field(default_factory=dict)
    files: tuple[str, ...] = ("Fold{fold}/{part}.txt",)
    variants: tuple[str, ...] = ()
    transfer_from: str | None = None


_LETOR = "https://www.microsoft.com/en-us/research/project/letor-learning-rank-information-retrieval/"
_MSLR = "https://www.microsoft.com/en-us/research/project/mslr/"
_YAHOO = "https://webscope.sandbox.yahoo.com/ (dataset C14B, on application)"
_ISTELLA = "http://quickrank.isti.cnr.it/istella-dataset/"

_LIU_2007 = "Liu, Xu, Qin, Xiong, Li: LETOR: benchmark dataset for research on learning to rank. LR4IR at SIGIR 2007."
_QIN_2010 = (
    "Qin, Liu, Xu, Li: LETOR: a benchmark collection for research on learning to rank. Information Retrieval 13, 2010."
)
_QIN_2013 = "Qin, Liu: Introducing LETOR 4.0 datasets. arXiv:1306.2597, 2013."
_CHAPELLE_2011 = "Chapelle, Chang: Yahoo! learning to rank challenge overview. JMLR W&CP 14, 2011."
_DATO_2016 = (
    "Dato et al.: Fast ranking with additive ensembles of oblivious and non-oblivious regression trees. TOIS 35, 2016."
)
_LUCCHESE_2016 = "Lucchese et al.: Post-learning optimization of tree ensembles for efficient ranking. SIGIR 2016."

_POOLED = "irrelevant: whatever TREC's pool did not find relevant"
_LEFT_OUT = "left out"
_VARIANTS = ("QueryLevelNorm", "Feature-min", "Feature-null")
_OLD_FILES = ("Fold{fold}/{part}.txt", "Fold{fold}/{part}set.txt")


def _gov(name: str, task: str, n_queries: int) -> DatasetInfo:
    year, kind = name[2:], name[:2]
    return DatasetInfo(
        name=name,
        version="LETOR 3.0",
        corpus="Gov",
        task=task,
        n_queries=n_queries,
        n_features=64,
        labels=(0, 1),
        unjudged=_POOLED,
        folders=(f"LETOR3.0-{name.upper()}", f"{year}_{kind}_dataset", f"Gov/{year}_{kind}_dataset", name.upper()),
        files=_OLD_FILES,
        variants=_VARIANTS,
        source=_LETOR,
        citation=_QIN_2010,
    )


def _letor2(
    name: str, corpus: str, task: str, n_queries: int, n_rows: int, n_features: int, n_grades: int
) -> DatasetInfo:
    return DatasetInfo(
        name=f"{name}-letor2",
        version="LETOR 2.0",
        corpus=corpus,
        task=task,
        n_queries=n_queries,
        n_rows=n_rows,
        n_features=n_features,
        labels=tuple(range(n_grades)),
        unjudged=_LEFT_OUT if corpus == "OHSUMED" else _POOLED,
        folders=(f"LETOR2.0-{name.upper()}", f"LETOR2.0/{name.upper()}"),
        files=_OLD_FILES,
        source=_LETOR,
        citation=_LIU_2007,
    )


def _million(name: str, task: str, **facts: object) -> DatasetInfo:
    cased = name[:2].upper() + name[2:]
    common = {
        "n_queries": 1692 if name.startswith("mq2007") else 784,
        "n_features": 46,
        "labels": (0, 1, 2),
        "unjudged": _LEFT_OUT,
    }
    return DatasetInfo(
        name=name,
        version="LETOR 4.0",
        corpus="Gov2",
        task=task,
        folders=(f"LETOR4.0-{cased}", cased, name),
        source=_LETOR,
        citation=_QIN_2013,
        **(common | facts),  # type: ignore[arg-type]
    )


def _mslr(name: str, n_queries: int, n_rows: int) -> DatasetInfo:
    return DatasetInfo(
        name=f"mslr-{name}",
        version="MSLR-WEB",
        corpus="Bing",
        task="web search",
        n_queries=n_queries,
        n_rows=n_rows,
        n_features=136,
        labels=(0, 1, 2, 3, 4),
        unjudged=_LEFT_OUT,
        folders=(f"MSLR-{name.upper()}", name.upper(), f"MSLR-{name.upper().replace('WEB', 'WEB-')}", f"mslr-{name}"),
        source=_MSLR,
        citation=_QIN_2013,
    )


def _fixed(name: str, folders: tuple[str, ...], files: tuple[str, ...], **facts: object) -> DatasetInfo:
    split: dict[str, tuple[int, int]] = facts["split"]  # type: ignore[assignment]
    totals = {"n_queries": sum(q for q, _ in split.values()), "n_rows": sum(r for _, r in split.values())}
    common = {"labels": (0, 1, 2, 3, 4), "unjudged": _LEFT_OUT, "task": "web search", "n_folds": 0}
    return DatasetInfo(name=name, folders=folders, files=files, **(totals | common | facts))  # type: ignore[arg-type]


_ALL = (
    _letor2("ohsumed", "OHSUMED", "medical search", 106, 16_140, 25, 3),
    _letor2("td2003", "Gov", "topic distillation", 50, 49_171, 44, 2),
    _letor2("td2004", "Gov", "topic distillation", 75, 74_170, 44, 2),
    _gov("td2003", "topic distillation", 50),
    _gov("td2004", "topic distillation", 75),
    _gov("hp2003", "home page finding", 150),
    _gov("hp2004", "home page finding", 75),
    _gov("np2003", "named page finding", 150),
    _gov("np2004", "named page finding", 75),
    DatasetInfo(
        name="ohsumed",
        version="LETOR 3.0",
        corpus="OHSUMED",
        task="medical search",
        n_queries=106,
        n_rows=16_140,
        n_features=45,
        labels=(0, 1, 2),
        unjudged=_LEFT_OUT,
        folders=("LETOR3.0-OHSUMED", "OHSUMED", "ohsumed"),
        files=_OLD_FILES,
        variants=_VARIANTS,
        source=_LETOR,
        citation=_QIN_2010,
    ),
    _million("mq2007", "web search", n_rows=69_623),
    _million("mq2008", "web search", n_rows=15_211),
    _million(
        "mq2007-semi", "semi-supervised ranking", labels=(-1, 0, 1, 2), unjudged="label -1, in the training parts"
    ),
    _million(
        "mq2008-semi", "semi-supervised ranking", labels=(-1, 0, 1, 2), unjudged="label -1, in the training parts"
    ),
    _million("mq2007-agg", "rank aggregation", n_features=21, n_rows=69_623),
    _million("mq2008-agg", "rank aggregation", n_features=25),
    _million("mq2007-list", "listwise ranking", labels=()),
    _million("mq2008-list", "listwise ranking", labels=()),
    _mslr("web10k", 10_000, 1_200_193),
    _mslr("web30k", 31_531, 3_771_126),
    _fixed(
        "yahoo-set1",
        ("Yahoo", "yahoo", "ltrc_yahoo", "Learning to Rank Challenge", "Yahoo-set1"),
        ("set1.{part}.txt", "set1/{part}.txt"),
        version="Yahoo! challenge",
        corpus="Yahoo!",
        n_features=700,
        split={"train": (19_944, 473_134), "valid": (2_994, 71_083), "test": (6_983, 165_660)},
        source=_YAHOO,
        citation=_CHAPELLE_2011,
    ),
    _fixed(
        "yahoo-set2",
        ("Yahoo", "yahoo", "ltrc_yahoo", "Learning to Rank Challenge", "Yahoo-set2"),
        ("set2.{part}.txt", "set2/{part}.txt"),
        version="Yahoo! challenge",
        corpus="Yahoo!",
        n_features=700,
        split={"train": (1_266, 34_815), "valid": (1_266, 34_881), "test": (3_798, 103_174)},
        transfer_from="yahoo-set1",
        source=_YAHOO,
        citation=_CHAPELLE_2011,
    ),
    _fixed(
        "istella",
        ("istella-letor", "Istella", "istella"),
        ("full/{part}.txt", "{part}.txt"),
        version="Istella LETOR",
        corpus="Istella",
        n_features=220,
        split={"train": (23_219, 7_325_625), "test": (9_799, 3_129_004)},
        source=_ISTELLA,
        citation=_DATO_2016,
    ),
    _fixed(
        "istella-s",
        ("istella-s-letor", "Istella-S", "istella-s"),
        ("sample/{part}.txt", "{part}.txt"),
        version="Istella LETOR",
        corpus="Istella",
        n_features=220,
        split={"train": (19_245, 2_043_304), "valid": (7_211, 684_076), "test": (6_562, 681_250)},
        source=_ISTELLA,
        citation=_LUCCHESE_2016,
    ),
)

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
