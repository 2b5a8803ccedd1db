"""What the ways of interleaving share: the list that is shown, and the credit for its clicks."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from random import Random
from typing import Any, ClassVar

from plackett._base.errors import DataError


@dataclass(frozen=True)
class Interleaved:
    """A list made of the lists of several rankers.

    Attributes
    ----------
    documents
        What to show, from the top.
    credits
        For each document the credit of each ranker if it is clicked.
    """

    documents: list[Any]
    credits: list[list[float]]

    def score(self, clicks: Mapping[Any, float] | Iterable[Any]) -> list[float]:
        """Credit of each ranker for the clicked documents, or for actions with weights ``{document: weight}``."""
        weights = self.weights(clicks)
        total = [0.0] * len(self.credits[0]) if self.credits else []
        for document, row in zip(self.documents, self.credits, strict=True):
            weight = weights.get(document, 0.0)
            if weight:
                for ranker, credit in enumerate(row):
                    total[ranker] += weight * credit
        return total

    def weights(self, clicks: Mapping[Any, float] | Iterable[Any]) -> dict[Any, float]:
        """Weight of each clicked document: 1 unless given, however often it was clicked."""
        if isinstance(clicks, str | bytes):
            raise DataError(f"clicks is the text {clicks!r}; give a list of documents, [{clicks!r}] for one click")
        weights = dict(clicks) if isinstance(clicks, Mapping) else dict.fromkeys(clicks, 1.0)
        if isinstance(clicks, Mapping):
            for document, weight in weights.items():
                if not isinstance(weight, Real) or weight != weight:
                    raise DataError(f"the weight of {document!r} is {weight!r}; a number was expected")
        unknown = [document for document in weights if document not in self.documents]
        if unknown:
            raise DataError(f"clicked document {unknown[0]!r} is not in the list that was shown")
        return weights

    def record(self) -> dict[str, Any]:
        """The list as plain values, for a file; `Interleaving.restore` reads them."""
        return {"documents": self.documents, "credits": self.credits}


class Interleaving:
    """Base of the ways of interleaving."""

    name: ClassVar[str]

    def make(self, lists: Sequence[Sequence[Hashable]], k: int, rng: Random) -> Interleaved:
        """Draw one list of at most k documents."""
        raise NotImplementedError

    def restore(self, record: Mapping[str, Any]) -> Interleaved:
        """The list that was stored by `Interleaved.record`."""
        return Interleaved(list(record["documents"]), [list(row) for row in record["credits"]])
