"""What the sections of a report share: which rankers are drawn, in which order, with which colour and name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from plackett._base.cached import cached_property
from plackett.experiments.report.blocks import Block, Heading
from plackett.experiments.tables.frames import Frames
from plackett.measures.language import parse

#: How many rankers a figure can show and still be readable; there are this many colours.
MAX_DRAWN = 8
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "x", "triangle-down", "star")
DASHES = ("solid", "dash", "dot", "dashdot")


class View:
    """An experiment as its report shows it."""

    def __init__(self, experiment: Frames, *, max_rows: int) -> None:
        self.experiment = experiment
        self.max_rows = max_rows
        self.first = next(iter(experiment.measures))
        select = parse(experiment.select)
        cutoff = getattr(select, select.cutoff, None)
        #: The selecting measure without its rules.
        self.select = select.name if cutoff is None else f"{select.name}@{cutoff}"
        self.seed = int(experiment.protocol["random_state"])

    @cached_property
    def datasets(self) -> list[str]:
        """The datasets on which some ranker is finished."""
        return [name for name in self.experiment.datasets if self.experiment.complete(name)]

    @property
    def several(self) -> bool:
        """Whether sections need a heading per dataset."""
        return len(self.datasets) > 1

    def by_dataset(self, make: Callable[[str, int], Iterable[Block]]) -> list[Block]:
        """What a section says of each dataset, given its name and number; below its name if there are several."""
        blocks: list[Block] = []
        for number, dataset in enumerate(self.datasets):
            own = list(make(dataset, number))
            blocks += [Heading(dataset), *own] if own and self.several else own
        return blocks

    def rows(self, dataset: str, measure: str | None = None) -> dict[str, dict[str, Any]]:
        """Rows of the leaderboard by ranker, in its order; of the first measure where none is named."""
        board = self.experiment.leaderboard
        part = board.filter((board["dataset"] == dataset) & (board["measure"] == (measure or self.first)))
        return {row["ranker"]: row for row in part.iter_rows(named=True)}

    def chosen(self, dataset: str) -> str | None:
        """The ranker chosen on validation data; None without validation data."""
        return self.experiment.chosen(dataset)

    def drawn(self, dataset: str) -> list[str]:
        """The rankers that figures show: the first ones of the leaderboard, and always the chosen one."""
        order = list(self.rows(dataset))
        chosen = self.chosen(dataset)
        if chosen in order[:MAX_DRAWN] or chosen is None:
            return order[:MAX_DRAWN]
        return [*order[: MAX_DRAWN - 1], chosen]

    def left_out(self, dataset: str) -> str:
        """A sentence about how many rankers the figures show, or nothing if they show all."""
        more = len(self.rows(dataset)) - len(self.drawn(dataset))
        return f" The figures show {MAX_DRAWN} rankers of {len(self.rows(dataset))}." if more else ""

    @cached_property
    def names(self) -> dict[str, str]:
        """Names short enough for figures: without parameters, if that is unambiguous."""
        bare = {ranker: ranker.partition("(")[0].strip() or ranker for ranker in self.experiment.rankers}
        count = Counter(bare.values())
        return {ranker: name if count[name] == 1 else ranker for ranker, name in bare.items()}

    @cached_property
    def _numbers(self) -> dict[str, int]:
        """A number for each ranker, so that those drawn together have different colours."""
        drawn = list(dict.fromkeys(ranker for dataset in self.datasets for ranker in self.drawn(dataset)))
        return {ranker: number for number, ranker in enumerate([*drawn, *self.experiment.rankers])} | {
            ranker: number for number, ranker in enumerate(drawn)
        }

    def colour(self, ranker: str) -> str:
        """The ranker's colour: a name that the page knows for light and dark."""
        return f"--s{self._numbers[ranker] % MAX_DRAWN}"

    def symbol(self, ranker: str) -> str:
        """The ranker's marker."""
        return SYMBOLS[self._numbers[ranker] % MAX_DRAWN]

    def dash(self, ranker: str) -> str:
        """How the ranker's line is drawn."""
        return DASHES[self._numbers[ranker] % len(DASHES)]
