"""Convert the sources' definitions of pairs, ties and margins to one convention."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.arguments import choice
from plackett.data.arguments import array, matching

#: What a labelled pair of equal scores costs.
TIES = {"none": 0.0, "half": 0.5, "loss": 1.0}


def tie_cost(tie: str) -> float:
    """What a labelled pair of equal scores costs under a tie rule.

    >>> tie_cost("half")
    0.5
    """
    choice("tie", tie, TIES)
    return TIES[tie]


@dataclass(frozen=True)
class Convention:
    r"""How a source writes pairs; `margins` converts them to the form used internally.

    Internally, the margin of a labelled pair is the score of the preferred document minus that of the other one: a
    positive margin is correct, and surrogates decrease with the margin. A pair of equal labels has no margin (NaN).

    Parameters
    ----------
    tie
        What a labelled pair of equal scores costs: ``"none"``, ``"half"`` or ``"loss"``.
    preferred
        Which document a label of +1 prefers: ``"first"`` or ``"second"``.

    Examples
    --------
    A tie is not an error for Liu, but it is for Mohri et al., whose +1 prefers the second document:

    >>> Convention.BOOK.errors([1.0, 2.0], [1.0, 1.0], [1, -1]).tolist()
    [0.0, 1.0]
    >>> Convention.MOHRI.errors([1.0, 2.0], [1.0, 1.0], [1, -1]).tolist()
    [1.0, 0.0]
    """

    tie: str = "none"
    preferred: str = "first"

    BOOK: ClassVar[Convention]
    MOHRI: ClassVar[Convention]
    MOHRI_BIPARTITE: ClassVar[Convention]
    AUC: ClassVar[Convention]

    def __post_init__(self) -> None:
        tie_cost(self.tie)
        choice("preferred", self.preferred, ("first", "second"))

    def margins(self, first: Any, second: Any, label: Any) -> np.ndarray:
        """Margin of each pair in the internal convention; NaN for pairs of label 0."""
        a, b = array("first", first, None, empty=True), array("second", second, None, empty=True)
        y = array("label", label, None, empty=True)
        matching(first=a, second=b, label=y)
        gap = a - b if self.preferred == "first" else b - a
        return np.where(y == 0, np.nan, y * gap)

    def errors(self, first: Any, second: Any, label: Any) -> np.ndarray:
        """0–1 loss of each pair: 1 where the margin is negative, the cost of a tie where it is 0."""
        margin = self.margins(first, second, label)
        return (margin < 0) + TIES[self.tie] * (margin == 0)


#: Liu 2011, chapters 16 to 18; Mohri et al., (10.1) and (10.20); the usual AUC.
Convention.BOOK = Convention("none", "first")
Convention.MOHRI = Convention("loss", "second")
Convention.MOHRI_BIPARTITE = Convention("none", "second")
Convention.AUC = Convention("half", "first")
