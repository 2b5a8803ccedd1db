"""The catalogue: what the package has, which ids of the inventory each item fulfils, and what is still open.

Everything is read from the sources without importing them: classes with literal attributes ``_ids`` (and ``name``,
``aliases``, ``paper``), scorers with a literal ``kind``, functions with the decorator
`plackett._names.provenance.fulfils`, and the names that a module lists in ``__public__``.
``python -m plackett._names.catalogue`` writes `plackett._names.index` (the static index behind lazy attributes,
`plackett list` and the measure language), the stubs ``__init__.pyi`` for type checkers and editors, and
``docs/catalogue.md``; with ``--check`` it only says whether they are fresh.

The inventory, ``docs/inventory.tsv``, belongs to the repository and is not installed.
"""

from __future__ import annotations

import ast
import pprint
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from importlib import import_module
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

from plackett._base.errors import DataError
from plackett._names.nearest import nearest, plain, question

#: What kind of item a folder of the package holds.
KINDS = {
    "measures": "measure",
    "losses": "loss",
    "models": "model",
    "solvers": "solver",
    "scorers": "scorer",
    "scorers/comparators": "comparator",
    "rankers": "ranker",
    "rankers/subsets": "subset learner",
    "datasets": "data",
    "data": "data",
    "data/relation_builders": "relation",
    "evaluation": "evaluation",
    "experiments": "experiment",
    "experiments/auto": "ranker",
    "aggregation": "aggregation",
    "aggregation/orderings": "ordering",
    "permutation_models": "permutation model",
    "diversity": "re-ranker",
    "text": "text",
    "graph": "graph",
    "clicks": "clicks",
    "clicks/models": "click model",
    "clicks/rankers": "ranker",
    "online": "online",
    "selection": "selection",
    "selection/pools": "pool",
    "feature_selection": "feature selection",
    "theory": "theory",
    "export": "export",
    "serve": "serve",
}

#: Kinds whose items are names of `plackett` itself; those of other kinds are names of their sub-package.
TOP_LEVEL = ("ranker", "model", "permutation model")
#: Sub-packages that give all their items by name when called, with the type of what they give.
CALLABLE = {
    "aggregation": "type[Any]",
    "diversity": "type[Any]",
    "losses": "type[Any]",
    "measures": "Any",
    "rankers": "type[Any]",
}
#: Kinds of classes that model files name by the literal attribute ``kind`` of the class.
_STORED = ("scorer", "comparator")
#: Literal attributes that say what a class is.
_ATTRIBUTES = ("_ids", "name", "aliases", "paper")


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

    def load(self) -> Any:
        """The class or function."""
        return getattr(import_module(self.module), self.symbol)


class Format(NamedTuple):
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


class Requirement(NamedTuple):
    """One row of the inventory."""

    id: str
    name: str


def items(kind: str | None = None) -> list[Item]:
    """The implemented items, of one kind or all.

    >>> [item.name for item in items("measure") if "eval.ndcg" in item.ids]
    ['nDCG']
    """
    from plackett._names.index import ITEMS

    return [item for item in (Item(*row) for row in ITEMS) if kind in (None, item.kind)]


def formats() -> list[Format]:
    """The model formats of other tools.

    >>> {"onnx", "ranklib", "solr", "vespa"} <= {format.name for format in formats() if format.writes}
    True
    """
    from plackett._names.index import FORMATS

    return [Format(*row) for row in FORMATS]


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


def stored_class(kind: str, name: str) -> Any:
    """The class of a kind that a model file names by ``kind``; the spelling must match exactly.

    >>> stored_class("scorer", "linear").__name__
    'LinearScorer'
    """
    for item in items(kind):
        if item.name == name:
            return item.load()
    raise DataError(f"the {kind} {name!r:.200} is not known to this version of plackett")


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


def requirements() -> list[Requirement]:
    """The inventory that the package is built from: ids and names. Only in a checkout of the repository."""
    text = (Path(__file__).parents[3] / "docs" / "inventory.tsv").read_text(encoding="utf-8")
    return [Requirement(*line.split("\t")) for line in text.splitlines()[1:]]


# --------------------------------------------------------------------------------------------------- from the sources


def scan(package: Path) -> list[Item]:
    """Items in the sources of the package."""
    items = [item for path in sorted(package.rglob("*.py")) for item in _declared(package, path).items]
    names = [(item.kind, item.name) for item in items]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise ValueError(f"declared twice: {sorted(twice)}")
    return sorted(items, key=lambda item: (item.kind, item.name.lower()))


class _Declared(NamedTuple):
    """What a file declares: its items, and the names it lists in ``__public__``."""

    items: tuple[Item, ...]
    public: tuple[str, ...]
    #: The package whose names these are: the file's own, unless it says ``__home__ = "…"``.
    home: str = ""


#: A file with none of these declares nothing, and is not parsed.
_SIGNS = re.compile(r"\b(_ids|kind|fulfils|__public__)\b")
#: The statement by which a file that lies below the package of its names says which that is.
_HOME = re.compile(r'^__home__ = "(\w+)"$', re.MULTILINE)


def _declared(package: Path, path: Path) -> _Declared:
    return _parse(package, path, path.stat().st_mtime_ns)


@cache
def _parse(package: Path, path: Path, changed: int) -> _Declared:
    """Parse a file once for as long as it does not change: it takes most of the time of everything here."""
    text = path.read_text(encoding="utf-8")
    if not _SIGNS.search(text):
        return _Declared((), ())
    folder, module = path.relative_to(package).parent, _module(package, path)
    named = _HOME.search(text)
    home = named[1] if named else path.relative_to(package).parts[0].removesuffix(".py")
    kind = KINDS.get(home if named else folder.as_posix(), KINDS.get(home, "tool"))
    items: list[Item] = []
    public: tuple[str, ...] = ()
    for node in ast.parse(text).body:
        items.extend(_item(node, kind, module))
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__public__":
            public = tuple(ast.literal_eval(node.value))
    return _Declared(tuple(items), public, home)


def _module(package: Path, path: Path) -> str:
    return ".".join(["plackett", *path.relative_to(package).with_suffix("").parts]).removesuffix(".__init__")


def scan_formats(package: Path) -> list[Format]:
    """Model formats found in the sources: classes in ``export/`` with a literal ``kind``."""
    known = []
    for path in sorted((package / "export").glob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            declared = _literals(node, ("kind", "first_line")) if isinstance(node, ast.ClassDef) else {}
            if isinstance(node, ast.ClassDef) and "kind" in declared:
                names = {target.id for s in node.body if isinstance(s, ast.Assign) for target in s.targets}  # type: ignore[attr-defined]
                module, first_line = f"plackett.export.{path.stem}", declared.get("first_line", "")
                known.append(Format(declared["kind"], module, node.name, first_line, "write" in names))
    return sorted(known)


def _item(node: ast.stmt, kind: str, module: str) -> Iterator[Item]:
    if isinstance(node, ast.ClassDef):
        declared = _literals(node, ("kind", *_ATTRIBUTES) if kind in _STORED else _ATTRIBUTES)
        if "_ids" in declared or "kind" in declared:
            name = declared.get("kind", declared.get("name", node.name))
            ids, paper, aliases = declared.get("_ids", ()), declared.get("paper", ""), declared.get("aliases", ())
            yield Item(kind, name, module, node.name, ids, paper, aliases, _summary(node))
    elif isinstance(node, ast.FunctionDef):
        if kind in ("measure", "loss", "model", "ranker", *_STORED):
            kind = "tool"  # those are classes; a function next to them is a tool that works with them
        for decorator in node.decorator_list:
            if isinstance(decorator, ast.Call) and getattr(decorator.func, "id", "") == "fulfils":
                ids = tuple(ast.literal_eval(argument) for argument in decorator.args)
                named: dict[str, Any] = {str(w.arg): ast.literal_eval(w.value) for w in decorator.keywords}
                yield Item(kind, node.name, module, node.name, ids, named.get("paper", ""), (), _summary(node))


def _literals(node: ast.ClassDef, names: tuple[str, ...]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for statement in node.body:
        if isinstance(statement, ast.Assign):
            target, value = statement.targets[0], statement.value
        elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
            target, value = statement.target, statement.value
        else:
            continue
        if isinstance(target, ast.Name) and target.id in names:
            values[target.id] = ast.literal_eval(value)
    return values


def _summary(node: ast.ClassDef | ast.FunctionDef) -> str:
    """First sentence of the docstring, without the marks of its markup."""
    paragraph = " ".join((ast.get_docstring(node) or "").partition("\n\n")[0].split())
    sentence = re.split(r"(?<=[.?!])\s(?=[A-Z])", paragraph, maxsplit=1)[0]
    return re.sub(r":\w+:(?=`)", "", sentence).replace("`", "").rstrip(",:;")


def public_names(package: Path) -> dict[str, dict[str, tuple[str, str]]]:
    """The names of `plackett` (under ``""``) and of each sub-package: the module and the name there.

    Items are names of their sub-package, those of the kinds `TOP_LEVEL` of `plackett` too. Other names are public where
    their module lists them in ``__public__``.
    """
    packages = [path.parent.name for path in package.glob("[!_]*/__init__.py") if path.parent.name != "cli"]
    names: dict[str, dict[str, tuple[str, str]]] = {subpackage: {} for subpackage in ["", *packages]}

    def add(home: str, module: str, name: str, symbol: str, top: bool) -> None:
        if home in names:
            names[home][name] = module, symbol
        if top:
            names[""][name] = module, symbol

    declared = [(_module(package, path), _declared(package, path)) for path in sorted(package.rglob("*.py"))]
    homes = {module: of_file.home for module, of_file in declared}
    for item in scan(package):
        add(homes[item.module], item.module, item.symbol, item.symbol, item.kind in TOP_LEVEL)
        if item.kind == "measure":  # an object, known by its name
            add(homes[item.module], item.module, item.name, item.symbol, False)
    for module, of_file in declared:
        for name in of_file.public:
            add(of_file.home, module, name, name, True)
    return {subpackage: dict(sorted(inside.items())) for subpackage, inside in sorted(names.items())}


# ------------------------------------------------------------------------------------------------------------ output


def index_source(package: Path) -> str:
    """Text of `plackett._names.index`."""
    names = public_names(package)
    public = {name: module for name, (module, _) in names.pop("").items()}
    packages = {
        subpackage: {name: module for name, (module, _) in inside.items()} for subpackage, inside in names.items()
    }
    return (
        '"""Static index of the package. Generated by `python -m plackett._names.catalogue`; do not edit."""\n\n'
        "# fmt: off\n"
        f"PUBLIC: dict[str, str] = \\\n{pprint.pformat(public, width=118)}\n\n"
        f"PACKAGES: dict[str, dict[str, str]] = \\\n{pprint.pformat(packages, width=118)}\n\n"
        f"FORMATS: list[tuple] = \\\n{pprint.pformat([tuple(each) for each in scan_formats(package)], width=118)}\n\n"
        f"ITEMS: list[tuple] = \\\n{pprint.pformat([tuple(item) for item in scan(package)], width=118)}\n"
    )


def stubs(package: Path) -> dict[Path, str]:
    """Text of each ``__init__.pyi``: what type checkers and editors see of the names that are imported when used."""
    head = "# Generated by `python -m plackett._names.catalogue`; do not edit.\nfrom typing import Any\n\n"
    texts = {}
    public = public_names(package)
    packages = [subpackage for subpackage in public if subpackage]
    for subpackage, names in public.items():
        init = (package / subpackage / "__init__.py").read_text(encoding="utf-8")
        if subpackage and "open_package(" not in init:  # what it has stands in its `__init__`
            continue
        lines = [_stub_line(name, module, symbol) for name, (module, symbol) in names.items()]
        if not subpackage:
            errors = "ClusterError", "DataError", "LossError", "MeasureError", "MissingExtraError", "PlackettWarning"
            lines += [_stub_line(name, "plackett._base.errors", name) for name in errors]
            lines += [f"from plackett import {name} as {name}\n" for name in packages if name not in CALLABLE]
            lines += [f"def {name}() -> dict[str, {kind}]: ...\n" for name, kind in CALLABLE.items()]
            lines += ["__version__: str\n"]
        else:
            lines += [f"{line.strip()}\n" for line in _typed_imports(init)]
        texts[package / subpackage / "__init__.pyi"] = head + "".join(lines)
    return texts


def _stub_line(name: str, module: str, symbol: str) -> str:
    if name == symbol:
        return f"from {module} import {name} as {name}\n"
    return f"from {module} import {symbol} as _{symbol}\n{name}: _{symbol}\n"


def _typed_imports(init: str) -> list[str]:
    """The imports of a sub-package's ``__init__`` that are for type checkers, or that it makes itself."""
    kept: list[str] = []
    for node in ast.parse(init).body:
        inside = node.body if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING" else [node]
        for statement in inside:
            if isinstance(statement, ast.ImportFrom) and (statement.module or "").startswith("plackett."):
                kept += [
                    f"from {statement.module} import {alias.name} as {alias.asname or alias.name}"
                    for alias in statement.names
                    if alias.name != "open_package"
                ]
    return kept


def page(package: Path) -> str:
    """Text of ``docs/catalogue.md``: all items, with papers, and what is still open."""
    listed = scan(package)
    done = {i for item in listed for i in item.ids}
    needed = requirements()
    lines = [
        "# Catalogue",
        "",
        "Everything there is, by kind. Generated by `make docs` from the sources.",
        "",
        f"{len(listed)} items fulfil {len(done)} of the {len(needed)} entries of the inventory; the last section lists",
        "the others.",
        "",
    ]
    for kind in sorted({item.kind for item in listed}):
        lines += [f"## {kind}", "", "| name | what it is | paper |", "|---|---|---|"]
        lines += [
            f"| `{item.name}` | {item.summary.replace('|', chr(92) + '|')} | {item.paper or '–'} |"
            for item in listed
            if item.kind == kind
        ]
        lines.append("")
    lines += ["## Still open", ""]
    lines += [f"- {requirement.name}" for requirement in needed if requirement.id not in done]
    return "\n".join(lines) + "\n"


def main(arguments: list[str]) -> int:
    """Write the generated files, or check them with ``--check``."""
    package = Path(__file__).parents[1]
    targets = {package / "_names" / "index.py": index_source(package)} | stubs(package)
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
