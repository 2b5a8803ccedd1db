"""The tables of docs/theory.md, written from the sources: ``make docs``."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Sequence
from pathlib import Path


def _markdown(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(header)} |", "|" + "---|" * len(header)]
    return "\n".join([*lines, *(f"| {' | '.join(cell.replace('|', '∣') for cell in row)} |" for row in rows)])


def bounds_table() -> str:
    """All generalisation bounds: what they bound, in which framework, how fast they fall, what they assume."""
    from plackett._names.catalogue import items
    from plackett.theory.bounds.base import bounds

    papers = {item.symbol: item.paper for item in items("theory")}
    order = ("document", "subset", "two-layer")
    in_order = sorted(bounds().values(), key=lambda b: (order.index(b.framework), b.approach, b.kind, b.__name__))
    rows = [
        (
            f"`{b.__name__}`",
            f"{b.framework}, {b.approach}",
            b.kind,
            b.bounded,
            b.rate,
            "; ".join(b.assumptions),
            (inspect.getdoc(b) or "").partition(":")[0] + f" ({papers[b.__name__]})",
        )
        for b in in_order
    ]
    header = ("bound", "framework, approach", "kind", "what is bounded", "rate", "assumptions", "source")
    return _markdown(header, rows)


def results_table() -> str:
    """Which combinations of framework and approach have results."""
    from plackett.theory.bounds.known_results import known_results

    frame = known_results()
    return _markdown(frame.columns, [[cell or "–" for cell in row] for row in frame.iter_rows()])


def consistency_rows() -> str:
    """What is known about consistency."""
    from plackett.theory.consistency.registry import consistency_table

    header = ("algorithm", "true loss", "framework", "condition", "verdict", "source")
    rows = [
        (e["algorithm"], e["true_loss"], f"{e['framework']}, {e['approach']}", e["condition"], f"**{e['verdict']}**",
         e["source"])
        for e in consistency_table().iter_rows(named=True)
    ]  # fmt: skip
    return _markdown(header, rows)


def surrogate_rows() -> str:
    """Which losses bound which measures."""
    from plackett import losses

    rows = []
    for _, loss in sorted(losses().items()):  # type: ignore[operator]
        instance = loss()
        rows += [(f"`{instance}`", b.statement, b.labels, b.source) for b in instance.bounds()]
    instance = losses.Square(target="exp2")  # type: ignore[attr-defined]
    rows += [(f"`{instance}`", b.statement, b.labels, b.source) for b in instance.bounds("nDCG")]
    return _markdown(("loss L", "inequality", "labels", "source"), sorted(rows))


#: Name of a table in the page, and what writes it.
TABLES: dict[str, Callable[[], str]] = {
    "bounds": bounds_table,
    "results": results_table,
    "consistency": consistency_rows,
    "surrogates": surrogate_rows,
}


def filled(page: str) -> str:
    """The page with its tables refreshed, each between ``<!-- table: NAME -->`` and ``<!-- end -->``."""
    for name, write in TABLES.items():
        start, end = f"<!-- table: {name} -->\n", "\n<!-- end -->"
        before, marker, rest = page.partition(start)
        if not marker or end not in rest:
            raise ValueError(f"the page has no place for the table {name!r}: {start.strip()} … {end.strip()}")
        page = before + start + "\n" + write() + "\n" + rest[rest.index(end) :]
    return page


def main(path: Path) -> None:
    """Write the tables into the page."""
    text = path.read_text(encoding="utf-8")
    path.write_text(filled(text), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[1] / "docs" / "theory.md")
