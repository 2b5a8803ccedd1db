"""``plackett list``."""

from __future__ import annotations

from typing import Annotated

import typer

from plackett.cli.arguments import Json
from plackett.cli.output import print_json, print_table


def list_items(
    kind: Annotated[str | None, typer.Option(help="Only this kind: measure, loss, ranker, data, …")] = None,
    ids: Annotated[bool, typer.Option("--ids", help="Show inventory ids and modules instead.")] = False,
    as_json: Json = False,
) -> None:
    """List rankers, measures, losses and everything else in the package, with the papers they come from."""
    from plackett._names.catalogue import items
    from plackett._names.nearest import hint

    listed = items(kind)
    if kind and not listed:
        kinds = sorted({item.kind for item in items()})
        raise typer.BadParameter(f"no item of kind {kind!r}; {hint(kind, kinds)}", param_hint="--kind")
    if as_json:
        keys = ("kind", "name", "summary", "ids", "paper", "module", "aliases")
        print_json([{key: getattr(item, key) for key in keys} for item in listed])
    elif ids:
        rows = [(item.kind, item.name, ", ".join(item.ids), item.module) for item in listed]
        print_table(("kind", "name", "ids", "module"), rows)
    else:
        shown = [(item.name, item.summary, item.paper) for item in listed]
        if kind is None:
            rows = [(item.kind, *row) for item, row in zip(listed, shown, strict=True)]
            print_table(("kind", "name", "what it is", "paper"), rows)
        else:
            print_table(("name", "what it is", "paper"), shown)
