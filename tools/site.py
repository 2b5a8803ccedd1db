"""The parts of the site that are made from the sources: API reference, catalogue, studies, project pages.

MkDocs runs this as a hook (see ``mkdocs.yml``). Nothing here lists an item by hand: the reference has what
``plackett`` and its packages offer, grouped by package.
"""

from __future__ import annotations

import inspect
import logging
import re
import shutil
import sys
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

import plackett
from plackett._names import catalogue

sys.path.insert(0, str(Path(__file__).parent))
from docstrings import Formulas, to_markdown

ROOT = Path(__file__).resolve().parents[1]
SOURCES = ROOT / "out" / "site-sources"  #: what mkdocstrings reads (see mkdocs.yml)
PROJECT_PAGES = {"Changelog": "CHANGELOG.md", "Contributing": "CONTRIBUTING.md", "Security": "SECURITY.md"}
#: Sub-packages with a page of their own; other items are on the page of their package.
SPLIT = {"rankers", "losses"}
#: Classes in layers: what they inherit is shown with them, since their bases have no entry.
LAYERED = {"plackett.experiments.result.Experiment"}


class Entry(NamedTuple):
    """One item of the reference."""

    path: str  #: where it is defined, such as plackett.rankers.pairwise.lambdamart.LambdaMART
    access: str  #: how users write it, such as plackett.LambdaMART
    summary: str

    @property
    def page(self) -> str:
        """The reference page that shows it."""
        parts = self.path.split(".")[1:-1]
        if parts[0].startswith("_"):
            return "plackett"
        if parts[0] in SPLIT and len(parts) > 2:
            return "-".join(parts[:2])
        return parts[0]

    @property
    def label(self) -> str:
        """Its last name."""
        return self.access.rpartition(".")[2]


def _public() -> Iterator[tuple[str, str, str]]:
    """(module, symbol, how users write it) of all that is public; a later way to write an item is the worse one."""
    packages = []
    for name in plackett.__all__:
        value = getattr(plackett, name)
        if inspect.ismodule(value):
            packages.append(value)
        else:
            item = catalogue.public_names().get(name)
            yield item.module if item else value.__module__, name, f"plackett.{name}"
    for package in packages:
        for name in getattr(package, "__all__", None) or dir(package):
            value = getattr(package, name)
            home = getattr(value, "__module__", None) or ""
            is_item = inspect.isclass(value) or inspect.isfunction(value)
            if not name.startswith("_") and is_item and re.match(r"plackett(\.[a-z]\w*)+$", home):
                yield home, value.__name__, f"{package.__name__}.{name}"
    for item in catalogue.items():
        if item.symbol.isupper():  # a constant has no signature
            continue
        package = getattr(plackett, item.module.split(".")[1], None)
        offered = [name for name in (item.name, item.symbol) if name.isidentifier() and hasattr(package, name)]
        access = f"{package.__name__}.{offered[0]}" if offered else f"{item.module}.{item.symbol}"
        yield item.module, item.symbol, access


def _results(value: Any) -> Iterator[tuple[str, str, str]]:
    """What a public function gives is of interest, too, where it is a class of the package."""
    result = getattr(import_module(value.__module__), str(getattr(value, "__annotations__", {}).get("return")), None)
    if inspect.isclass(result) and result.__module__.startswith("plackett."):
        yield result.__module__, result.__name__, f"{result.__module__}.{result.__name__}"


@cache
def entries() -> list[Entry]:
    """All items of the reference, by name."""
    result: dict[str, Entry] = {}
    waiting = list(_public())
    for module, symbol, access in waiting:
        path = f"{module}.{symbol}"
        if path not in result:
            value = getattr(import_module(module), symbol)
            result[path] = Entry(path, access, _first_sentence(inspect.getdoc(value) or ""))
            waiting += _results(value)
    return sorted(result.values(), key=lambda entry: entry.label.lower())


@cache
def pages() -> dict[str, list[Entry]]:
    """The items of each reference page."""
    grouped: dict[str, list[Entry]] = defaultdict(list)
    for entry in entries():
        grouped[entry.page].append(entry)
    return dict(sorted(grouped.items(), key=lambda page: (page[0] != "plackett", page[0])))


def _first_sentence(doc: str) -> str:
    text = re.sub(r"\s+", " ", to_markdown(doc).partition("\n\n")[0]).strip()
    return re.split(r"(?<=\.) (?=[A-Z`])", text)[0].rstrip(".,:") + "."


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> list[str]:
    """Lines of a table of items, which becomes a list on a narrow screen."""
    lines = [[*head], ["---"] * len(head), *([cell.replace("|", r"\|") for cell in row] for row in rows)]
    return ['<div class="items" markdown>', "", *(f"| {' | '.join(line)} |" for line in lines), "", "</div>", ""]


def _title(page: str) -> str:
    return "plackett" if page == "plackett" else f"plackett.{page.replace('-', '.')}"


def _about(page: str) -> str:
    if page == "plackett":
        return "Errors, warnings, and loading of saved models."
    return _first_sentence(inspect.getdoc(import_module(_title(page))) or "")


def reference_page(page: str) -> str:
    """One page: what there is in a table, then each item with signature, types and docstring."""
    lines = [f"# {_title(page)}", "", _about(page), ""]
    if page.startswith("rankers-"):
        lines += [
            "All rankers share the methods of [Ranker](rankers.md): `fit`, `predict`, `rank`, `score`, `save`.",
            "",
        ]
    lines += _table(
        ("name", "what it is"), [(f"[`{entry.label}`](#{entry.path})", entry.summary) for entry in pages()[page]]
    )
    for entry in pages()[page]:
        options = [f"heading: {entry.access}", f"toc_label: {entry.label}"]
        options += ["inherited_members: true"] if entry.path in LAYERED else []
        lines += [f"::: {entry.path}", "    options:", *(f"      {option}" for option in options), ""]
    return "\n".join(lines)


def reference_index() -> str:
    """The pages of the reference, with the number of items."""
    lines = [
        "# Reference",
        "",
        "Signatures, types and examples of everything that is public, read from the sources.",
        "",
    ]
    rows = [(f"[`{_title(page)}`]({page}.md)", _about(page), str(len(result))) for page, result in pages().items()]
    return "\n".join([*lines, *_table(("package", "what is in it", "items"), rows)])


def catalogue_page() -> str:
    """The catalogue as users want it: name, sentence, paper; rows are filtered as one types."""
    shown = {entry.path: entry for entry in entries()}
    kinds = sorted({item.kind for item in catalogue.items()})
    lines = [
        "# Catalogue",
        "",
        f"{len(catalogue.items())} items, each with the paper it comes from. Type to filter.",
        "",
        '<input id="catalogue-filter" type="search" placeholder="Filter, such as LambdaMART, pairwise, Burges" '
        'aria-label="Filter the catalogue">',
        '<p id="catalogue-count" aria-live="polite"></p>',
        "",
    ]
    for kind in kinds:
        rows = []
        for item in catalogue.items(kind):
            entry = shown.get(f"{item.module}.{item.symbol}")
            name = f"`{item.name}`"
            if entry:
                name = f"[{name}](reference/{entry.page}.md#{entry.path})"
            rows.append((name, entry.summary if entry else to_markdown(item.summary), item.paper))
        lines += [f"## {kind[0].upper()}{kind[1:]}", "", *_table(("name", "what it is", "paper"), rows)]
    return "\n".join(lines)


def _section(config: MkDocsConfig, name: str) -> list[Any]:
    return next(section[name] for section in config.nav if name in section)


def on_startup(**_: Any) -> None:
    """Copy the sources without stubs, which declare callable packages as functions and so hide them from griffe."""
    shutil.rmtree(SOURCES, ignore_errors=True)
    shutil.copytree(ROOT / "src", SOURCES, ignore=shutil.ignore_patterns("*.pyi", "__pycache__"))


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put the generated pages into the navigation, and formulas into Markdown."""
    config.markdown_extensions.append(Formulas())
    # __all__ is computed from the index, which griffe cannot follow and need not
    logging.getLogger("mkdocs.plugins.griffe").addFilter(lambda record: "plackett.__all__" not in record.getMessage())
    _section(config, "Reference").extend(
        ["reference/index.md", *({_title(page): f"reference/{page}.md"} for page in pages())]
    )
    studies = sorted(path.name for path in (ROOT / "docs" / "studies").glob("*.md"))
    _section(config, "Results").append({"Single studies": [f"studies/{name}" for name in studies]})
    _section(config, "Project").extend({title: f"project/{name.lower()}"} for title, name in PROJECT_PAGES.items())
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages."""
    made = {"reference/index.md": reference_index()}
    made |= {f"reference/{page}.md": reference_page(page) for page in pages()}
    made |= {f"project/{name.lower()}": (ROOT / name).read_text("utf-8") for name in PROJECT_PAGES.values()}
    for path, content in made.items():
        files.append(File.generated(config, path, content=content))
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """The site's catalogue replaces the plain table of the repository."""
    return catalogue_page() if page.file.src_uri == "catalogue.md" else markdown


def on_post_build(config: MkDocsConfig) -> None:
    """Refuse a site that loads anything from another server, or that shows formulas as text."""
    loads = re.compile(r"""<(?:script|img|iframe|source|link)\b[^>]*\b(?:src|href)=["']?(?:https?:)?//[^>]*>""")
    raw = re.compile(r":math:|\.\. math::.*")
    for path in Path(config.site_dir).rglob("*.html"):
        text = path.read_text("utf-8")
        if match := loads.search(text):
            raise PluginError(f"{path} loads from another server: {match[0]}")
        if path.parent.name == "reference" and (match := raw.search(text)):
            raise PluginError(f"{path} has a formula that was not converted: {match[0]}")
