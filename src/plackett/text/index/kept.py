"""What models compute from an index or a field, kept as long as that."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Kept(dict[Any, Any]):
    """Results by the keys of those who computed them.

    >>> kept = Kept()
    >>> kept.of("sum", lambda: 1 + 2), kept.of("sum", lambda: 0)
    (3, 3)
    """

    def of(self, key: Any, compute: Callable[[], Any]) -> Any:
        """The result with a key, computed where it is not there yet."""
        if key not in self:
            self[key] = compute()
        return self[key]
