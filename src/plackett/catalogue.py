"""The catalogue: what the package has, which ids of the inventory each item fulfils, and what is still open.

Everything is read from the sources without importing them: classes with literal attributes ``ids`` (and ``name``,
``aliases``, ``paper``), functions with the decorator `plackett._provenance.fulfils`. ``python -m plackett.catalogue``
writes `plackett._index` (the static index behind lazy attributes, `plackett list` and the measure language) and
``docs/catalogue.md``; with ``--check`` it only says whether they are fresh.
"""

from __future__ import annotations

import ast
import pprint
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from importlib.resources import files
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

from plackett._errors import DataError
from plackett._names import nearest, plain, question

__all__ = ["Item", "Requirement", "find", "items", "requirements"]

#: What kind of item a folder of the package holds.
KINDS = {
    "measures": "measure",
    "losses": "loss",
    "models": "model",
    "solvers": "solver",
    "scorers": "scorer",
    "rankers": "ranker",
    "datasets": "data",
    "data": "data",
    "evaluation": "evaluation",
    "experiments": "experiment",
    "experiments/auto": "ranker",
    "studies": "study",
    "aggregation": "aggregation",
    "aggregation/orderings": "ordering",
    "permutation_models": "permutation model",
    "text": "text",
    "graph": "graph",
    "clicks": "clicks",
    "selection": "selection",
    "theory": "theory",
    "export": "export",
    "serve": "serve",
}


class Item(NamedTuple):
    """One implemented thing: a measure, a loss, a ranker, a reader, …"""

    kind: str
    name: str
    module: str
    symbol: str
    ids: tuple[str, ...]
    paper: str
    aliases: tuple[str, ...]
    #: First sentence of its documentation.
    summary: str = ""


class Requirement(NamedTuple):
    """One row of the inventory."""

    id: str
    name: str


def items(kind: str | None = None) -> list[Item]:
    """The implemented items, of one kind or all.

    >>> [item.name for item in items("measure") if "eval.ndcg" in item.ids]
    ['nDCG']
    """
    from plackett._index import ITEMS

    return [item for item in (Item(*row) for row in ITEMS) if kind in (None, item.kind)]


def find(
    kind: str,
    name: str,
    *,
    error: type[ValueError] = DataError,
    more: Iterable[str] = (),
    shown: Callable[[Item], str] = attrgetter("name"),
) -> Item:
    """The item of a kind that a name means: its own name, its class or an alias, whatever the spelling.

    Case, ``_``, ``-`` and blanks do not matter. An unknown name is refused with the nearest known ones.

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
    plackett._errors.DataError: unknown ranker 'LamdaMart'; did you mean LambdaMART, ...
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
    found: dict[str, Item] = {}
    of_kind = items(kind)
    for item in of_kind:
        found.setdefault(item.name, item)
    for item in of_kind:
        for name in (item.symbol, *item.aliases):
            found.setdefault(name, item)
    for name, item in list(found.items()):
        found.setdefault(plain(name), item)
    return found


def requirements() -> list[Requirement]:
    """The inventory that the package is built from: ids and names."""
    text = files("plackett").joinpath("checklist.tsv").read_text(encoding="utf-8")
    return [Requirement(*line.split("\t")) for line in text.splitlines()[1:]]


# --------------------------------------------------------------------------------------------------- from the sources


def scan(package: Path) -> list[Item]:
    """Items found in the sources of the package."""
    found: list[Item] = []
    for path in sorted(package.rglob("*.py")):
        relative = path.relative_to(package)
        kind = KINDS.get(relative.parent.as_posix(), KINDS.get(relative.parts[0], "tool"))
        module = ".".join(["plackett", *relative.with_suffix("").parts]).removesuffix(".__init__")
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            found.extend(_item(node, kind, module))
    names = [(item.kind, item.name) for item in found]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise ValueError(f"declared twice: {sorted(twice)}")
    return sorted(found, key=lambda item: (item.kind, item.name.lower()))


def _item(node: ast.stmt, kind: str, module: str) -> Iterator[Item]:
    if isinstance(node, ast.ClassDef):
        words = _literals(node)
        if "ids" in words:
            name = words.get("name", node.name)
            paper, aliases = words.get("paper", ""), words.get("aliases", ())
            yield Item(kind, name, module, node.name, words["ids"], paper, aliases, _summary(node))
    elif isinstance(node, ast.FunctionDef):
        if kind in ("measure", "loss", "model", "ranker"):
            kind = "tool"  # those are classes; a function beside them is something that works with them
        for decorator in node.decorator_list:
            if isinstance(decorator, ast.Call) and getattr(decorator.func, "id", "") == "fulfils":
                ids = tuple(ast.literal_eval(argument) for argument in decorator.args)
                named: dict[str, Any] = {str(w.arg): ast.literal_eval(w.value) for w in decorator.keywords}
                yield Item(kind, node.name, module, node.name, ids, named.get("paper", ""), (), _summary(node))


def _literals(node: ast.ClassDef) -> dict[str, Any]:
    words: dict[str, Any] = {}
    for statement in node.body:
        if isinstance(statement, ast.Assign):
            target, value = statement.targets[0], statement.value
        elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
            target, value = statement.target, statement.value
        else:
            continue
        if isinstance(target, ast.Name) and target.id in ("ids", "name", "aliases", "paper"):
            words[target.id] = ast.literal_eval(value)
    return words


def _summary(node: ast.ClassDef | ast.FunctionDef) -> str:
    """First sentence of the docstring, without the marks of its markup."""
    paragraph = " ".join((ast.get_docstring(node) or "").partition("\n\n")[0].split())
    sentence = re.split(r"(?<=[.?!])\s(?=[A-Z])", paragraph, maxsplit=1)[0]
    return re.sub(r":\w+:(?=`)", "", sentence).replace("`", "").rstrip(",:;")


def public_names(init: Path) -> dict[str, str]:
    """Names imported for type checkers in the package's ``__init__``, with their modules."""
    names = {}
    for node in ast.parse(init.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING":
            for statement in node.body:
                if isinstance(statement, ast.ImportFrom) and statement.module:
                    names.update({alias.asname or alias.name: statement.module for alias in statement.names})
    return dict(sorted(names.items()))


# ------------------------------------------------------------------------------------------------------------ output


def index_source(package: Path) -> str:
    """Text of `plackett._index`."""
    rows = pprint.pformat([tuple(item) for item in scan(package)], width=118)
    public = pprint.pformat(public_names(package / "__init__.py"), width=118)
    return (
        '"""Static index of the package. Generated by `python -m plackett.catalogue`; do not edit."""\n\n'
        "# fmt: off\n"
        f"PUBLIC: dict[str, str] = \\\n{public}\n\n"
        f"ITEMS: list[tuple] = \\\n{rows}\n"
    )


def page(package: Path) -> str:
    """Text of ``docs/catalogue.md``: what is done and what is open."""
    found = scan(package)
    needed = requirements()
    known = {requirement.id for requirement in needed}
    done = {i for item in found for i in item.ids}
    lines = [
        "# Catalogue",
        "",
        "Generated by `make docs` from the sources. An id names an entry of the inventory that the package is built",
        "from; an item may fulfil several, and some items (what users of other tools expect) fulfil none.",
        "",
        f"**{len(done & known)} of {len(known)} entries done.**",
        "",
    ]
    for kind in sorted({item.kind for item in found}):
        lines += [f"## {kind}", "", "| name | module | ids | paper |", "|---|---|---|---|"]
        for item in found:
            if item.kind == kind:
                ids = ", ".join(f"`{i}`" for i in item.ids)
                lines.append(f"| `{item.name}` | `{item.module}` | {ids or '–'} | {item.paper or '–'} |")
        lines.append("")
    lines += ["## Still open", "", "| id | name |", "|---|---|"]
    lines += [f"| `{r.id}` | {r.name} |" for r in needed if r.id not in done]
    return "\n".join(lines) + "\n"


def main(arguments: list[str]) -> int:
    """Write the generated files, or check them with ``--check``."""
    package = Path(__file__).parent
    targets = {package / "_index.py": index_source(package)}
    docs = package.parent.parent / "docs"
    if docs.is_dir():
        targets[docs / "catalogue.md"] = page(package)
    stale = [p for p, text in targets.items() if not p.exists() or p.read_text(encoding="utf-8") != text]
    if "--check" in arguments:
        for path in stale:
            print(f"{path} is stale: run `make docs`", file=sys.stderr)
        return int(bool(stale))
    for path in stale:
        path.write_text(targets[path], encoding="utf-8")
        print(f"wrote {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
