"""Pages collected one by one, and made into a log."""

from __future__ import annotations

from typing import Any

from plackett.clicks.bad_lines import BadLines
from plackett.clicks.log import ClickLog


class Pages:
    """Collects pages: documents from the top down, and clicked documents in the order of the clicks."""

    def __init__(self, bad: BadLines) -> None:
        self.bad = bad
        self.clear()

    def clear(self) -> None:
        """Forget the pages, not the bad lines."""
        self.query: list[Any] = []
        self.documents: list[Any] = []
        self.lengths: list[int] = []
        self.clicks: list[int] = []
        self.order: list[int] = []
        self.dwell: list[float] = []
        self.users: list[Any] = []
        self.times: list[float] = []

    def __len__(self) -> int:
        return len(self.query)

    def add(self, line: int, query: Any, documents: list[Any], clicked: list[Any], **page: Any) -> None:
        """Add a page; clicks on documents that it does not show are left out and noted."""
        row_of = {document: i for i, document in enumerate(documents)}
        if len(row_of) < len(documents):
            self.bad.add("a document is shown twice on one page", line, ",".join(map(str, documents)))
            return
        counts, order, dwell = [0] * len(documents), [0] * len(documents), [float("nan")] * len(documents)
        moments = page.get("click_times")
        for number, document in enumerate(clicked):
            i = row_of.get(document)
            if i is None:
                self.bad.note("a click on a document that the page does not show", line, document)
                continue
            counts[i] += 1
            order[i] = order[i] or max(order) + 1
            if moments is not None and number + 1 < len(moments):
                spent = moments[number + 1] - moments[number]
                dwell[i] = spent if dwell[i] != dwell[i] else dwell[i] + spent
        self.query.append(query)
        self.documents += documents
        self.lengths.append(len(documents))
        self.clicks += counts
        self.order += order
        self.dwell += dwell
        self.users.append(page.get("user", ""))
        self.times.append(page.get("time", float("nan")))

    def log(self, *, key: bytes | str | None = None, users: bool, times: bool, dwell: bool) -> ClickLog:
        """The log of the pages."""
        made = ClickLog.from_arrays(
            self.query,
            self.documents,
            self.clicks,
            lengths=self.lengths,
            click_order=self.order,
            dwell=self.dwell if dwell else None,
            users=self.users if users else None,
            times=self.times if times else None,
            key=key,
        )
        return made.replace(bad_lines=self.bad)
