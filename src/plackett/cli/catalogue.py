"""``plackett list``."""

from __future__ import annotations

from typing import Annotated

import typer

from plackett.cli.output import print_json, print_table


def list_items(
    kind: Annotated[str | None, typer.Option(help="Only this kind: measure, loss, ranker, data, …")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Machine-readable.")] = False,
) -> None:
    """Show what the package has: kind, name, catalogue ids, paper, module."""
    from plackett.catalogue import items

    found = items(kind)
    if kind and not found:
        kinds = ", ".join(sorted({item.kind for item in items()}))
        raise typer.BadParameter(f"no item of kind {kind!r}; there are {kinds}", param_hint="--kind")
    if as_json:
        keys = ("kind", "name", "ids", "paper", "module", "aliases")
        print_json([{key: getattr(item, key) for key in keys} for item in found])
    else:
        rows = [(item.kind, item.name, ", ".join(item.ids), item.paper, item.module) for item in found]
        print_table(("kind", "name", "ids", "paper", "module"), rows)
