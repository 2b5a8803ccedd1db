"""A split of data whose parts are read when they are first used."""

from __future__ import annotations

from plackett._base.cached import cached_property
from plackett.data.dataset import RankingDataset
from plackett.data.splits import Fold


class LazyFold(Fold):
    """A fold whose parts are read when they are first used."""

    def part(self, role: str) -> RankingDataset | None:
        """Read ``"train"``, ``"valid"`` or ``"test"``; None where the fold has no such part."""
        raise NotImplementedError

    @cached_property
    def train(self) -> RankingDataset | None:  # type: ignore[override]
        """Training part."""
        return self.part("train")

    @cached_property
    def valid(self) -> RankingDataset | None:  # type: ignore[override]
        """Validation part, or None."""
        return self.part("valid")

    @cached_property
    def test(self) -> RankingDataset | None:  # type: ignore[override]
        """Test part."""
        return self.part("test")
