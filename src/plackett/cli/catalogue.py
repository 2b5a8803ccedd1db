"""``plackett list``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from plackett.cli.arguments import Json
from plackett.cli.output import print_json, print_table

#: The inventory that the package was built from: ids, and the items that fulfil each. Not installed.
INVENTORY = Path(__file__).parents[3] / "docs" / "inventory.tsv"


def list_items(
    kind: Annotated[str | None, typer.Option(help="Only this kind: measure, loss, ranker, data, …")] = None,
    ids: Annotated[bool, typer.Option("--ids", help="Show inventory ids and modules (in a checkout).")] = False,
    as_json: Json = False,
) -> None:
    """List rankers, measures, losses and everything else in the package, with the papers they come from."""
    from plackett._names.catalogue import items
    from plackett._names.nearest import hint

    listed = items(kind)
    if kind and not listed:
        kinds = sorted({item.kind for item in items()})
        raise typer.BadParameter(f"no item of kind {kind!r}; {hint(kind, kinds)}", param_hint="--kind")
    if ids and not INVENTORY.exists():
        raise typer.BadParameter(
            "the ids are in docs/inventory.tsv of a checkout of the repository; this is an installed package",
            param_hint="--ids",
        )
    if ids or as_json:
        rows = _with_ids(listed, everything=kind is None)
        if as_json:
            print_json(rows)
        else:
            columns = ("kind", "name", "ids", "module")
            print_table(columns, [(row["kind"], row["name"], ", ".join(row["ids"]), row["module"]) for row in rows])
    else:
        shown = [(item.name, item.summary, item.paper) for item in listed]
        if kind is None:
            rows_of_all = [(item.kind, *row) for item, row in zip(listed, shown, strict=True)]
            print_table(("kind", "name", "what it is", "paper"), rows_of_all)
        else:
            print_table(("name", "what it is", "paper"), shown)


def _with_ids(listed: list[Any], everything: bool) -> list[dict[str, Any]]:
    """Items as tables; in a checkout with their ids, and with the items outside the package if all are asked for."""
    keys = ("kind", "name", "summary", "paper", "module", "aliases")
    rows = [{key: getattr(item, key) for key in keys} for item in listed]
    if not INVENTORY.exists():
        return rows
    ids = ids_by_item()
    for item, row in zip(listed, rows, strict=True):
        row["ids"] = ids.get(f"plackett.{item.package}.{item.symbol}", [])
    if everything:
        for dotted, own in ids.items():
            if not dotted.startswith("plackett."):
                module, _, name = dotted.rpartition(".")
                about = {"summary": "", "paper": "", "module": module, "aliases": (), "ids": own}
                rows.append({"kind": dotted.partition(".")[0], "name": name, **about})
    return rows


def ids_by_item() -> dict[str, list[str]]:
    """Ids of the inventory by item: ``plackett.PACKAGE.NAME``, or the path of a file outside the package with dots."""
    found: dict[str, list[str]] = {}
    for line in INVENTORY.read_text(encoding="utf-8").splitlines()[1:]:
        number, _, dotted = line.split("\t")
        for item in dotted.split():
            found.setdefault(item, []).append(number)
    return found
