"""Published figures to compare ours with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plackett._base.errors import DataError
from plackett._names.nearest import hint
from plackett.experiments.tables.published_figures import PublishedTable, stability, tables

if TYPE_CHECKING:
    import polars as pl

    from plackett.experiments.cells.finished import Finished

__all__ = ["compare_with_published", "published", "stability_figures"]

#: Names of our rankers in the tables, where they differ. AdaRank's baseline optimises MAP.
METHODS = {
    "linearregression": ("Regression (linear)",),
    "ranksvm": ("Ranking SVM", "RankSVM"),
    "frank": ("FRank", "FRank-c4.2"),
    "adarank": ("AdaRank", "AdaRank.MAP"),
    "svmmap": ("SVM-map",),
}


#: The preset of each release's evaluation script; LETOR 2.0's has the rules of 3.0's.
_RULES = {"LETOR 2.0": "letor3", "LETOR 3.0": "letor3", "LETOR 4.0": "letor4"}


def published(dataset: str, ranker: str | None = None) -> pl.DataFrame:
    """Published figures for a dataset: ``method``, ``measure``, ``value`` and ``source``.

    They are means over LETOR's five folds with the evaluation script of the dataset's version, which the presets
    ``letor3`` and ``letor4`` follow. Figures of different versions of a dataset cannot be compared.

    Parameters
    ----------
    dataset
        A name of `plackett.datasets.available`: ``"ohsumed"`` is LETOR 3.0's, ``"ohsumed-letor2"`` LETOR 2.0's. Case
        and punctuation do not matter.
    ranker
        Only the figures of this ranker, by our name or the table's.

    References
    ----------
    Liu: Learning to rank for information retrieval. Springer 2011, chapter 11.
    Zheng, Zha, Sun: Query-level learning to rank using isotonic regression. Allerton 2008.

    Examples
    --------
    >>> published("ohsumed", "RankSVM").filter(measure="AP")["value"].item()
    0.433
    >>> published("mq2008").filter(measure="AP").sort("value").row(-1, named=True)["method"]
    'ListNet'
    """
    import polars as pl

    table = published_table(dataset)
    if table is None:
        known = [table.dataset for table in tables()]
        raise DataError(
            f"no figures are published for dataset {dataset!r}; {hint(dataset, known, 'there are some for')}"
        )
    rows = figures_of(table, ranker)
    if not rows:
        known = list(table.figures)
        raise DataError(f"no figures of {ranker!r} are published for {table.dataset}; {hint(ranker or '', known)}")
    schema = {"method": pl.String, "measure": pl.String, "value": pl.Float64, "source": pl.String}
    return pl.DataFrame(rows, schema=schema)


def figures_of(table: PublishedTable, ranker: str | None) -> list[dict[str, Any]]:
    """The published figures of a ranker, by our name or the table's; of all without a name."""
    wanted = None if ranker is None else {_plain(name) for name in (ranker, *METHODS.get(_plain(ranker), ()))}
    return [
        {"method": method, "measure": measure, "value": value, "source": table.source}
        for method, figures in table.figures.items()
        for measure, value in figures.items()
        if wanted is None or _plain(method) in wanted
    ]


def other_rules(dataset: str, preset: str | None) -> str | None:
    """The preset that the published figures of a dataset follow, if the experiment used a different one.

    >>> other_rules("mq2008", None), other_rules("mq2008", "letor4")
    ('letor4', None)
    """
    table = published_table(dataset)
    rules = None if table is None else _RULES[table.version]
    return None if rules == preset else rules


def published_table(dataset: str) -> PublishedTable | None:
    """The published table of a dataset, or None."""
    return next((table for table in tables() if _plain(table.dataset) == _plain(dataset)), None)


def compare_with_published(experiment: Finished) -> pl.DataFrame:
    """An experiment's figures next to published ones: one row per dataset, ranker and measure that has both.

    ``measured`` is the mean over folds, like the published figures; ``difference`` is ours minus theirs. Datasets are
    recognised by their names (``experiment({"mq2008": folds}, …)``), and rankers by their class names.
    """
    import polars as pl

    if not any(map(published_table, experiment.datasets)):
        raise DataError(
            f"no figures are published for {', '.join(map(repr, experiment.datasets))}. Name the datasets as they were "
            f"published, experiment({{'mq2008': …}}, …); there are {', '.join(table.dataset for table in tables())}"
        )
    rows = rows_with_published(experiment)
    if not rows:
        raise DataError(
            f"no figures are published for any of the rankers {', '.join(experiment.rankers)} by any of the measures "
            f"{', '.join(experiment.measures)}"
        )
    return pl.DataFrame(rows)


def rows_with_published(experiment: Finished) -> list[dict[str, Any]]:
    """The rows of `compare_with_published`; none if nothing was published."""
    rows = []
    for dataset in experiment.datasets:
        table = published_table(dataset)
        if table is None:
            continue
        for ranker in experiment.complete(dataset):
            kind = experiment.rankers[ranker].get("class", "").rpartition(".")[2]
            for measure in experiment.measures:
                for row in figures_of(table, kind):
                    if row["measure"] == measure:
                        measured = experiment.results(measure)[dataset][ranker]
                        rows.append(
                            {"dataset": dataset, "ranker": ranker, "measure": measure, "measured": measured}
                            | {"published": row["value"], "difference": measured - row["value"]}
                            | {"method": row["method"], "source": row["source"]}
                        )
    return rows


def stability_figures(ranker: str) -> tuple[float, ...]:
    """Published changes in loss when one training query is left out, 30 times, for ``"RankSVM"`` or ``"IRSVM"``.

    >>> round(sum(stability_figures("IRSVM")) / 30, 2)
    0.12

    References
    ----------
    Lan, Liu, Qin, Ma, Li: Query-level stability and generalization in learning to rank. ICML 2008.
    """
    names = {_plain(name): name for name in stability()}
    if _plain(ranker) not in names:
        raise DataError(f"there are stability figures for {', '.join(stability())}, but not for {ranker!r}")
    return stability()[names[_plain(ranker)]]


def _plain(name: str) -> str:
    return "".join(character for character in name.lower() if character.isalnum())
