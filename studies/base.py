"""The result of a study, and functions that several studies share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from plackett.data.dataset import RankingDataset
from plackett.evaluation.evaluate import evaluate
from plackett.evaluation.tables import Renderable, Table, TableCell
from plackett.experiments.data import folds_by_dataset
from plackett.measures.base import Measure

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, eq=False, repr=False)
class Study(Renderable):
    """Result of a study: a frame, the question it answers, and notes on how to read it.

    ``print`` shows it; `to_markdown`, `to_latex`, `to_html`, `to_csv` and `to_json` convert it. A study with several
    tables has the others in ``parts``; they follow the first one in all formats except CSV, which has only one table.

    Examples
    --------
    >>> import polars as pl
    >>> print(Study(pl.DataFrame({"name": ["a"], "value": [0.5]}), "Which is better?").to_markdown())
    **Which is better?**
    <BLANKLINE>
    | name |  value |
    | ---- | -----: |
    | a    | 0.5000 |
    """

    frame: pl.DataFrame
    question: str
    notes: tuple[str, ...] = ()
    parts: tuple[Study, ...] = ()
    #: A chart in SVG, for the studies that have one.
    picture: str = ""

    def to_terminal(self, **options: Any) -> str:
        """The tables as text."""
        return self._joined("to_terminal", options)

    def to_markdown(self, **options: Any) -> str:
        """The tables in Markdown."""
        return self._joined("to_markdown", options)

    def to_latex(self, **options: Any) -> str:
        """The tables in LaTeX, for the package ``booktabs``."""
        return self._joined("to_latex", options)

    def to_html(self, **options: Any) -> str:
        """The tables in HTML, with the chart if there is one."""
        return "\n".join(filter(None, [self._joined("to_html", options), self.picture]))

    def to_svg(self) -> str:
        """The chart; raises if there is none."""
        if not self.picture:
            raise ValueError("this study has no chart; write its table as .md, .csv, .json, .tex or .html")
        return self.picture

    def _joined(self, form: str, options: dict[str, Any]) -> str:
        own = getattr(super(), form)(**options)
        return "\n\n".join([own, *(getattr(part, form)(**options) for part in self.parts)])

    def _frame(self) -> pl.DataFrame:
        return self.frame

    def _record(self) -> dict[str, Any]:
        own = {"question": self.question, "rows": self.frame.to_dicts(), "notes": list(self.notes)}
        return own | ({"parts": [part._record() for part in self.parts]} if self.parts else {})

    def _layout(self, *, digits: int = 4) -> Table:  # type: ignore[override]
        import polars as pl

        rows = tuple(tuple(TableCell(_text(value, digits)) for value in row) for row in self.frame.iter_rows())
        kinds = [kind == pl.String for kind in self.frame.dtypes]
        n_names = kinds.index(False) if False in kinds else len(kinds)
        return Table(tuple(self.frame.columns), rows, self.question, self.notes, n_names)


def _text(value: Any, digits: int) -> str:
    if value is None or value != value:  # NaN counts as missing
        return "–"
    if not isinstance(value, float):
        return str(value)
    plain = abs(value) < 1e-12 or 1e-3 <= abs(value) < 1e5  # rounding errors of zero are shown as zero
    return f"{abs(value) if abs(value) < 1e-12 else value:.{digits}f}" if plain else f"{value:.3g}"


#: Files in this folder that are no studies.
_OTHERS = ("base", "pages", "run")


def studies() -> dict[str, Callable[..., Study]]:
    """All studies by name: each is a function in a file of the same name.

    >>> "listnet-curve" in studies()
    True
    """
    files = sorted(path.stem for path in Path(__file__).parent.glob("[!_]*.py") if path.stem not in _OTHERS)
    return {name.replace("_", "-"): getattr(import_module(f"studies.{name}"), name) for name in files}


def find_study(name: str) -> Callable[..., Study]:
    """Look up a study by name; underscores and case do not matter."""
    known = studies()
    title = name.lower().replace("_", "-")
    if title not in known:
        near = get_close_matches(title, known, 3, 0.55)
        advice = f"did you mean {' or '.join(near)}?" if near else "--list shows all"
        raise ValueError(f"unknown study {name!r}; {advice}")
    return known[title]


# ----------------------------------------------------------------------------------------------------- shared parts


def named_folds_of(data: Any, folds: Any = 5) -> tuple[str, dict[Any, Any]]:
    """Name and folds of a single dataset, in any form that `plackett.experiment` accepts."""
    by_dataset = folds_by_dataset(data, folds)
    if len(by_dataset) != 1:
        raise ValueError(f"this study takes one dataset, got {', '.join(by_dataset)}")
    return next(iter(by_dataset.items()))


def per_query(
    data: RankingDataset, scores: Any, measure: str | Measure = "AP", preset: str | None = None
) -> np.ndarray:
    """Values of one measure, one per query."""
    evaluation = evaluate(data, scores, [measure], preset=preset)
    return next(iter(evaluation.values.values()))


def of_queries(X: Any, y: Any, sizes: Any) -> RankingDataset:
    """Dataset whose rows are grouped by queries of these sizes."""
    return RankingDataset.from_arrays(X, y, qid=np.repeat(np.arange(len(sizes)), sizes))
