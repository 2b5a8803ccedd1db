"""The catalogue: writes everything that says which names the package shows.

``python tools/catalogue.py`` reads the sources without importing them and writes ``_names/items.tsv``, the stubs
``__init__.pyi`` for type checkers and editors, and ``docs/catalogue.md``; with ``--check`` it only says whether they
are fresh. A module's ``__all__`` lists what its package shows. What a thing is called stands in literal attributes of
its class, ``name`` and ``aliases`` (a scorer's and a format's is its ``kind``); the paper is the first of its
*References*.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from plackett._names.catalogue import Item, ModelFormat

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "plackett"

#: What kind of item a folder or a file of the package has. A file that names its package has that package's kind.
KINDS = {
    "_base/search_space.py": "tool",
    "aggregation/lists.py": "tool",
    "aggregation/base.py": "base class",
    "aggregation/orderings/base.py": "base class",
    "losses/base.py": "base class",
    "measures/base.py": "base class",
    "rankers/base.py": "base class",
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
    "plot": "plot",
}
#: Kinds of classes that are looked up by name; a function next to them is a tool that works with them.
REGISTRIES = (
    *("aggregation", "click model", "comparator", "loss", "measure", "model", "ordering", "permutation model", "pool"),
    *("ranker", "re-ranker", "scorer", "subset learner"),
)
#: Kinds of classes that model files name by the literal attribute ``kind`` of the class.
STORED = ("scorer", "comparator")
#: Kinds whose items are names of `plackett` itself.
TOP_LEVEL = ("ranker", "model", "permutation model")
#: Further names of `plackett` itself, with the package of each.
TOP = [
    "_load.load",
    "_load.load_scorer",
    "aggregation.RankLists",
    "aggregation.aggregate",
    "aggregation.fuse",
    "clicks.ClickLog",
    "data.Fold",
    "data.Imputer",
    "data.Neighbours",
    "data.OrderedTargetEncoder",
    "data.PermutationSet",
    "data.Preferences",
    "data.QueryKFold",
    "data.QueryNormalizer",
    "data.RankingDataset",
    "data.Relation",
    "data.best_order",
    "data.concat",
    "data.hyperedges",
    "data.join_run",
    "data.labelled_pairs",
    "data.leaks",
    "data.letor_comment_fields",
    "data.letor_folds",
    "data.order_to_grades",
    "data.pool",
    "data.profile",
    "data.read",
    "data.read_diversity_qrels",
    "data.read_folds",
    "data.read_groups",
    "data.read_letor",
    "data.read_letor_chunks",
    "data.read_qrels",
    "data.read_query_features",
    "data.read_relation",
    "data.read_run",
    "data.run_frame",
    "data.sample_order",
    "data.split_by_time",
    "data.split_queries",
    "data.to_order",
    "data.to_pairwise",
    "data.to_pointwise",
    "data.without_added",
    "data.write",
    "data.write_diversity_qrels",
    "data.write_letor",
    "data.write_qrels",
    "data.write_run",
    "diversity.diversify",
    "evaluation.churn",
    "evaluation.compare",
    "evaluation.compare_evaluations",
    "evaluation.compare_runs",
    "evaluation.evaluate",
    "evaluation.evaluate_run",
    "evaluation.friedman",
    "evaluation.geo_risk",
    "evaluation.giveaways",
    "evaluation.mean_ranks",
    "evaluation.nemenyi",
    "evaluation.permutation_importance",
    "evaluation.robustness",
    "evaluation.single_feature_importance",
    "evaluation.switch_probability",
    "evaluation.trisk",
    "evaluation.urisk",
    "evaluation.winning_number",
    "evaluation.zrisk",
    "experiments.Experiment",
    "experiments.compare_with_published",
    "experiments.components",
    "experiments.cross_validate",
    "experiments.experiment",
    "experiments.letor_baselines",
    "experiments.log_to_mlflow",
    "experiments.published",
    "explanations.explain",
    "explanations.model_importance",
    "export.from_sklearn",
    "export.read_catboost",
    "export.read_lightgbm",
    "export.read_quickrank",
    "export.read_ranklib",
    "export.read_ranklib_scores",
    "export.read_svm_rank",
    "export.read_xgboost",
    "export.verify_export",
    "export.write_c",
    "export.write_elasticsearch",
    "export.write_elasticsearch_ltr",
    "export.write_go",
    "export.write_java",
    "export.write_javascript",
    "export.write_lightgbm",
    "export.write_onnx",
    "export.write_opensearch_ltr",
    "export.write_pmml",
    "export.write_ranklib",
    "export.write_ranklib_scores",
    "export.write_rust",
    "export.write_solr",
    "export.write_svm_rank",
    "export.write_treelite",
    "export.write_vespa",
    "export.write_xgboost",
    "feature_selection.CheapestSelector",
    "feature_selection.GreedySelector",
    "feature_selection.efficient_weights",
    "feature_selection.feature_frontier",
    "feature_selection.feature_similarity",
    "graph.link_relation",
    "graph.parent_relation",
    "graph.url_type",
    "losses.isotonic_update",
    "losses.loss",
    "losses.torch_loss",
    "measures.informativeness",
    "measures.kendall_tau",
    "measures.measure",
    "measures.measure_curve",
    "measures.pair_precision",
    "measures.precision_recall_curve",
    "measures.rbo",
    "measures.roc_curve",
    "measures.spearman_rho",
    "measures.tau_ap",
    "measures.weighted_kendall",
    "measures.weighted_kendall_omega",
    "models.Integer",
    "models.Real",
    "rankers.SVMDiv",
    "rankers.calibrate",
    "rankers.domains",
    "rankers.early_exit",
    "rankers.latency",
    "rankers.prune",
    "rankers.query_features",
    "rankers.relatedness",
    "rankers.response_times",
    "rankers.robust_training",
    "rankers.save",
    "rankers.scorer",
    "rankers.update_ranker",
    "text.Analyzer",
    "text.FeatureSet",
    "text.Index",
    "text.QueryIntent",
    "text.SearchPipeline",
    "text.extract",
    "text.read_documents",
    "text.search",
]
#: Packages that give all their items by name when called, with the type of what they give.
CALLABLE = {
    "aggregation": "type[Any]",
    "diversity": "type[Any]",
    "losses": "type[Any]",
    "measures": "Any",
    "rankers": "type[Any]",
}
#: The statement by which a file that lies below the package of its names says which that is.
_HOME = re.compile(r'^__home__ = "(\w+)"$', re.MULTILINE)
#: Authors and year of a reference: ``Burges, Ragno, Le: Learning to rank with nonsmooth cost functions. NIPS 2006.``
_REFERENCE = re.compile(
    r"(?P<authors>[^:]+?)(?:: .*?|\. )(?P<year>(?:1[5-9]|20)\d\d)"
    r"(?P<where>, (?:chapter|section|exercise|table|figure)s? [\d., –and]*\d)?(?=[.,;)]| \(|$)"
)


# ----------------------------------------------------------------------------------------------------- from the sources


def scan(package: Path) -> list[Item]:
    """Items in the sources of the package: what its modules list in ``__all__``."""
    items = [item for path in _modules(package) for item in _declared(package, path)]
    for what in (lambda item: (item.kind, item.name), lambda item: (item.package, item.symbol)):
        names = [what(item) for item in items]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"declared twice: {twice}")
    return sorted(items, key=lambda item: (item.kind, item.name.lower()))


def _modules(package: Path) -> list[Path]:
    """Files that may declare something: what ``__init__`` files list is declared elsewhere."""
    return [path for path in sorted(package.rglob("*.py")) if path.name != "__init__.py"]


def _declared(package: Path, path: Path) -> tuple[Item, ...]:
    return _parse(package, path, path.stat().st_mtime_ns)


@cache
def _parse(package: Path, path: Path, changed: int) -> tuple[Item, ...]:
    """Parse a file once for as long as it does not change: it takes most of the time of everything here."""
    text = path.read_text(encoding="utf-8")
    if "__all__ = " not in text:
        return ()
    body = ast.parse(text).body
    shown = next((ast.literal_eval(node.value) for node in body if _assigned(node) == "__all__"), ())
    defined = {getattr(node, "name", _assigned(node)): node for node in body}
    missing = sorted(set(shown) - set(defined))
    if missing:
        raise ValueError(f"{path}: __all__ names {', '.join(missing)}, which this file does not define")
    inside = path.relative_to(package)
    home = _HOME.search(text)
    own = home[1] if home else inside.parts[0].removesuffix(".py")
    places = (inside.as_posix(), own if home else inside.parent.as_posix(), own)
    kind = next((KINDS[position] for position in places if position in KINDS), "tool")
    module = ".".join([package.name, *inside.with_suffix("").parts])
    lines = text.splitlines()
    return tuple(_item(name, defined[name], kind, module, own, lines) for name in shown)


def _assigned(node: ast.stmt) -> str:
    """The name that a statement gives a value; empty for any other statement."""
    target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
    return target.id if isinstance(target, ast.Name) and getattr(node, "value", None) is not None else ""


def _item(symbol: str, node: ast.stmt, kind: str, module: str, package: str, lines: list[str]) -> Item:
    if isinstance(node, ast.ClassDef | ast.FunctionDef):
        doc = ast.get_docstring(node) or ""
    else:  # a constant, with a comment above it
        above = lines[node.lineno - 2]
        doc = above.removeprefix("#: ") if above.startswith("#: ") else ""
    declared: dict[str, Any] = {}
    if isinstance(node, ast.ClassDef):
        declared = _literals(node, ("name", "aliases", *(["kind"] if kind in STORED else [])))
    elif kind in (*REGISTRIES, "base class"):
        kind = "tool"
    name = declared.get("kind", declared.get("name", symbol))
    top = kind in TOP_LEVEL or f"{package}.{symbol}" in TOP
    return Item(kind, name, module, symbol, package, top, declared.get("aliases", ()), paper_of(doc), summary_of(doc))


def _literals(node: ast.ClassDef, names: tuple[str, ...]) -> dict[str, Any]:
    return {
        name: ast.literal_eval(statement.value)  # type: ignore[attr-defined]
        for statement in node.body
        if (name := _assigned(statement)) in names
    }


def summary_of(doc: str) -> str:
    """First sentence of a docstring, without the marks of its markup."""
    paragraph = " ".join(doc.partition("\n\n")[0].split())
    sentence = re.split(r"(?<=[.?!])\s(?=[A-Z])", paragraph, maxsplit=1)[0]
    return re.sub(r":\w+:(?=`)", "", sentence).replace("`", "").rstrip(",:;")


def paper_of(doc: str) -> str:
    """Authors and year of the first reference of a docstring."""
    section = re.search(r"^References\n-+\n(.*?)(?=\n\n[A-Z]\w+\n-+\n|\Z)", doc, re.DOTALL | re.MULTILINE)
    if section is None:
        return ""
    text = " ".join(section[1].split())
    first = _REFERENCE.match(text)
    if first is None:
        return text
    return f"{first['authors'].replace(' and ', ', ')} {first['year']}{first['where'] or ''}"


def scan_formats(package: Path) -> list[ModelFormat]:
    """Model formats found in the sources: classes in ``export/`` with a literal ``kind``."""
    known = []
    for path in sorted((package / "export").glob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            declared = _literals(node, ("kind", "first_line")) if isinstance(node, ast.ClassDef) else {}
            if isinstance(node, ast.ClassDef) and "kind" in declared:
                writes = any(_assigned(statement) == "write" for statement in node.body)
                module, first_line = f"plackett.export.{path.stem}", declared.get("first_line", "")
                known.append(ModelFormat(declared["kind"], module, node.name, first_line, writes))
    return sorted(known)


# ------------------------------------------------------------------------------------------------------ output


def table(package: Path) -> str:
    """Text of ``items.tsv``."""
    head = "kind name module symbol package top aliases paper summary first_line writes"
    rows = [
        (*item[:5], "top" if item.top else "", " ".join(item.aliases), item.paper, item.summary, "", "")
        for item in scan(package)
    ] + [
        (
            "format",
            each.name,
            each.module,
            each.symbol,
            "export",
            "",
            "",
            "",
            "",
            each.first_line,
            "writes" * each.writes,
        )
        for each in scan_formats(package)
    ]
    for row in rows:
        if any(set(cell) & set("\t\n") for cell in row):
            raise ValueError(f"a tab or line break in {row}")
    return "\n".join("\t".join(row) for row in [head.split(), *sorted(rows)]) + "\n"


def stubs(package: Path) -> dict[Path, str]:
    """Text of each ``__init__.pyi``: what type checkers and editors see of the names that are imported when used."""
    head = "# Generated by `python tools/catalogue.py`; do not edit.\nfrom typing import Any\n\n"
    texts = {}
    items = scan(package)
    packages = sorted(path.parent.name for path in package.glob("[!_]*/__init__.py") if path.parent.name != "cli")
    for subpackage in ["", *packages]:
        init = package / subpackage / "__init__.py"
        if subpackage and "open_package(" not in init.read_text(encoding="utf-8"):  # what it has stands in this file
            continue
        lines = [f"from {module} import {name} as {name}\n" for name, module in sorted(_names(items, subpackage))]
        if not subpackage:
            errors = "ClusterError", "DataError", "LossError", "MeasureError", "MissingExtraError", "PlackettWarning"
            lines += [f"from plackett._base.errors import {name} as {name}\n" for name in errors]
            lines += [f"from plackett import {name} as {name}\n" for name in packages if name not in CALLABLE]
            lines += [f"def {name}() -> dict[str, {kind}]: ...\n" for name, kind in CALLABLE.items()]
            lines += ["__version__: str\n"]
        texts[init.with_suffix(".pyi")] = head + "".join(lines)
    return texts


def _names(items: list[Item], package: str) -> Iterator[tuple[str, str]]:
    """The names of a package, and the module of each."""
    for item in items:
        if item.top if not package else item.package == package:
            yield item.symbol, item.module
            if package and item.kind == "measure":  # an object, known by its name
                yield item.name, item.module


def page(package: Path) -> str:
    """Text of ``docs/catalogue.md``: all items, with papers."""
    listed = scan(package)
    lines = [
        "# Catalogue",
        "",
        f"Everything there is, by kind: {len(listed)} items. Generated by `make docs` from the sources.",
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
    return "\n".join(lines[:-1]) + "\n"


def targets() -> dict[Path, str]:
    """The generated files and what they should say."""
    return {
        PACKAGE / "_names" / "items.tsv": table(PACKAGE),
        ROOT / "docs" / "catalogue.md": page(PACKAGE),
        **stubs(PACKAGE),
    }


def main(arguments: list[str]) -> int:
    """Write the generated files, or check them with ``--check``."""
    stale = {p: text for p, text in targets().items() if not p.exists() or p.read_text(encoding="utf-8") != text}
    for path, text in stale.items():
        if "--check" in arguments:
            print(f"{path} is stale: run `make docs`", file=sys.stderr)
        else:
            path.write_text(text, encoding="utf-8")
            print(f"wrote {path}")
    return int("--check" in arguments and bool(stale))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
