"""The catalogue: what the package has, and how a thing is found by its name.

``items.tsv`` lists every public class and function. It is generated: a module's ``__all__`` names what its package
shows, and ``python tools/catalogue.py`` writes the list.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from functools import cache
from importlib import import_module
from operator import attrgetter
from typing import Any, NamedTuple

from plackett._base.errors import DataError
from plackett._names.nearest import nearest, plain, question

#: The list, one row per item. Model formats of other tools are rows of the kind "format".
TABLE = os.path.join(os.path.dirname(__file__), "items.tsv")


class Item(NamedTuple):
    """One public thing: a measure, a loss, a ranker, a reader, …"""

    kind: str
    name: str
    module: str
    symbol: str
    #: The package that shows it.
    package: str
    #: Whether it is a name of `plackett` too.
    top: bool
    aliases: tuple[str, ...]
    #: Authors and year of the first of its references.
    paper: str
    #: First sentence of its documentation.
    summary: str

    def load(self) -> Any:
        """The class or function."""
        return getattr(import_module(self.module), self.symbol)


class ModelFormat(NamedTuple):
    """A model format of another tool: a class in ``export/`` with ``read`` or ``write`` or both."""

    name: str
    module: str
    symbol: str
    #: Regular expression of the first line of a file; none where files are not read.
    first_line: str
    writes: bool

    def load(self) -> Any:
        """The class."""
        return getattr(import_module(self.module), self.symbol)


@cache
def _rows() -> list[list[str]]:
    with open(TABLE, encoding="utf-8") as file:
        return [line.rstrip("\n").split("\t") for line in file][1:]


@cache
def _items() -> list[Item]:
    return [
        Item(kind, name, module, symbol, package, top == "top", tuple(aliases.split()), paper, summary)
        for kind, name, module, symbol, package, top, aliases, paper, summary, _, _ in _rows()
        if kind != "format"
    ]


def items(kind: str | None = None) -> list[Item]:
    """The public items, of one kind or all.

    >>> [item.module for item in items("measure") if item.name == "nDCG"]
    ['plackett.measures.ndcg']
    """
    return [item for item in _items() if kind in (None, item.kind)]


def formats() -> list[ModelFormat]:
    """The model formats of other tools.

    >>> {"onnx", "ranklib", "solr", "vespa"} <= {format.name for format in formats() if format.writes}
    True
    """
    return [
        ModelFormat(name, module, symbol, first_line, writes == "writes")
        for kind, name, module, symbol, *_, first_line, writes in _rows()
        if kind == "format"
    ]


def public_names(package: str = "") -> dict[str, Item]:
    """The names of a package, or of `plackett` itself. A measure has two: its class and what the language calls it.

    >>> public_names("measures")["nDCG"].symbol, public_names()["LambdaMART"].module
    ('NDCG', 'plackett.rankers.pairwise.lambdamart')
    """
    if not package:
        return {item.symbol: item for item in _items() if item.top}
    inside = f"plackett.{package}."
    own = [item for item in _items() if item.package == package or ("." in package and item.module.startswith(inside))]
    return {item.symbol: item for item in own} | {item.name: item for item in own if item.kind == "measure"}


def find(
    kind: str,
    name: str,
    *,
    error: type[ValueError] = DataError,
    more: Iterable[str] = (),
    shown: Callable[[Item], str] = attrgetter("name"),
) -> Item:
    """Find the item of a kind by its name, class or alias, in any spelling.

    Case, ``_``, ``-`` and blanks do not matter. The error for an unknown name suggests the closest known ones.

    Parameters
    ----------
    error
        Kind of the error.
    more
        Further names that are known elsewhere, such as those that users registered, to suggest too.
    shown
        How an item is called in the error message, where not by its name.

    Examples
    --------
    >>> find("ranker", "lambda_mart").name
    'LambdaMART'
    >>> find("ranker", "LamdaMart")
    Traceback (most recent call last):
    plackett._base.errors.DataError: unknown ranker 'LamdaMart'; did you mean LambdaMART, ...
    """
    known = _spellings(kind)
    item = known.get(name) or known.get(plain(name))
    if item is not None:
        return item
    matches = nearest(name, (*known, *more), 6)
    near = list(dict.fromkeys(shown(known[match]) if match in known else match for match in matches))[:3]
    advice = question(near) if near else f"`plackett list --kind {kind!r}` shows all"
    raise error(f"unknown {kind} {name!r:.200}; {advice}")


@cache
def _spellings(kind: str) -> dict[str, Item]:
    """Items by everything that they may be called; a name as written goes before a name in another spelling."""
    by_name: dict[str, Item] = {}
    of_kind = items(kind)
    for item in of_kind:
        by_name.setdefault(item.name, item)
    for item in of_kind:
        for name in (item.symbol, *item.aliases):
            by_name.setdefault(name, item)
    for name, item in list(by_name.items()):
        by_name.setdefault(plain(name), item)
    return by_name
