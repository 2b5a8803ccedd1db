"""Write the report of an experiment."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from plackett._files.atomic import replacing

if TYPE_CHECKING:
    from plackett.experiments.report.blocks import Section
    from plackett.experiments.tables.frames import Frames


def write_report(
    experiment: Frames,
    folder: str | PathLike[str],
    *,
    title: str | None = None,
    max_rows: int = 20_000,
) -> Path:
    """Write ``report.html``, ``report.md`` and ``report.tex`` into a folder; needs the extra ``report``.

    The HTML page is one file that works offline. Markdown and LaTeX have the same text and tables, without figures.
    Each file is written completely or not at all.

    Parameters
    ----------
    experiment
        The result of `plackett.experiment` or `Experiment.load`.
    folder
        Created if necessary.
    title
        Heading; None lists the datasets.
    max_rows
        About how many test documents to compute feature importances on; larger test parts are sampled by query.

    Returns
    -------
    Path
        The page, ``report.html``.

    Examples
    --------
    >>> import tempfile
    >>> from plackett.datasets import make_ranking
    >>> from plackett.experiments.experiment import experiment
    >>> data = make_ranking(30, 8, 5, random_state=0)
    >>> finished = experiment(data, ["ListNet", "LinearRegression"], ["AP", "nDCG@5"], folds=3, n_trials=2, n_jobs=1)
    >>> write_report(finished, tempfile.mkdtemp()).name
    'report.html'
    """
    from plackett.experiments.report.page import load_extra, to_html
    from plackett.experiments.report.text import to_latex, to_markdown

    load_extra()  # before anything is computed
    heading = title or f"Rankers on {', '.join(experiment.datasets)}"
    sections = report_sections(experiment, max_rows=max_rows)
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    for name, form in (("report.md", to_markdown), ("report.tex", to_latex), ("report.html", to_html)):
        with replacing(target / name) as file:
            file.write(form(heading, sections).encode())
    return target / "report.html"


def report_sections(experiment: Frames, *, max_rows: int = 20_000) -> list[Section]:
    """The contents of the report, before it is rendered in any format.

    If no ranker is finished in every fold of a dataset, these are what failed, the data, and how it was made.
    """
    from plackett.experiments.report.answer import answer
    from plackett.experiments.report.board import board
    from plackett.experiments.report.changes import changes
    from plackett.experiments.report.cost import cost
    from plackett.experiments.report.cutoffs import cutoffs
    from plackett.experiments.report.data import data
    from plackett.experiments.report.example import example
    from plackett.experiments.report.features import features
    from plackett.experiments.report.learning import learning
    from plackett.experiments.report.over_datasets import over_datasets
    from plackett.experiments.report.protocol import protocol
    from plackett.experiments.report.queries import queries
    from plackett.experiments.report.selection import selection
    from plackett.experiments.report.view import View

    view = View(experiment, max_rows=max_rows)
    results = (
        (board, over_datasets, queries, changes, cutoffs, learning, selection, cost, features, example)
        if view.datasets
        else ()
    )
    order: tuple[Callable[[View], Section | None], ...] = (answer, *results, data, protocol)
    return [section for make in order if (section := make(view)) is not None]
