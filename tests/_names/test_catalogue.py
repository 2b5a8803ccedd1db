"""The catalogue is fresh, honest and complete."""

from __future__ import annotations

import importlib.util
import inspect
import pkgutil
import re
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

import plackett
import plackett as pk
from plackett import PACKAGES
from plackett._names import catalogue
from plackett._names.catalogue import Item, public_names
from plackett.cli.catalogue import ids_by_item
from plackett.scorers.base import Scorer
from plackett.scorers.comparators.base import Comparator
from plackett.scorers.fields import comparator_class, scorer_class

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "plackett"

#: Base classes, and the packages in which a class that derives from one is an item.
BASES = {
    "aggregation": "aggregation.base.Aggregation",
    "aggregation.orderings": "aggregation.orderings.base.Ordering",
    "clicks.models": "clicks.models.base.ClickModel",
    "diversity": "diversity.reranker.Reranker",
    "losses": "losses.base.Loss",
    "measures": "measures.base.Measure",
    "online": "online.interleaving.base.Interleaving",
    "rankers": "rankers.base.Ranker",
    "selection.pools": "selection.pools.base.Pool",
    "text.features": "text.features.base.Feature",
    "text.retrieval": "text.retrieval.base.RetrievalModel",
    "theory.bounds": "theory.bounds.base.Bound",
}
#: What decorators make of users' functions, and what stands for one of them in a file.
MADE = {"CustomLoss", "CustomMeasure", "TorchLoss", "UnknownLoss"}


@pytest.fixture(scope="module")
def tool():
    """``tools/catalogue.py``."""
    spec = importlib.util.spec_from_file_location("tools_catalogue", ROOT / "tools" / "catalogue.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_generated_files_are_fresh(tool):
    stale = [path for path, text in tool.targets().items() if path.read_text(encoding="utf-8") != text]
    assert not stale, "run `make docs`"


def test_every_id_of_the_inventory_has_an_item():
    ids = ids_by_item()
    rows = [line.split("\t") for line in (ROOT / "docs" / "inventory.tsv").read_text("utf-8").splitlines()]
    assert rows[0] == ["id", "name", "items"]
    assert {row[0] for row in rows[1:]} == {each for own in ids.values() for each in own}
    assert [dotted for dotted in ids if not _exists(dotted)] == []


def _exists(dotted):
    first, *parts = dotted.split(".")
    if first == "plackett":
        package, name = parts
        return name in public_names(package)
    file = ROOT.joinpath(first, *parts[:-1])
    inside = file.with_suffix(".py")
    declared = re.compile(rf"^(def|class) {parts[-1]}\b", re.MULTILINE)
    return (file / f"{parts[-1]}.py").exists() or (inside.exists() and bool(declared.search(inside.read_text("utf-8"))))


def _is_ours(cls):
    """Whether a file of ours defines it; examples that ran in this process define classes in the name of a module."""
    module = sys.modules.get(cls.__module__)
    return cls.__module__.startswith("plackett.") and getattr(module, cls.__name__, None) is cls


def _final(cls, package):
    """The public classes of a package that derive from a class, and from which nothing of ours derives."""
    derived = [each for each in cls.__subclasses__() if _is_ours(each)]
    for each in derived:
        yield from _final(each, package)
    public = "._" not in cls.__module__ and not cls.__name__.startswith("_")
    if not derived and public and cls.__module__.startswith(f"plackett.{package}."):
        yield cls


@pytest.mark.parametrize("package", BASES)
def test_what_could_be_an_item_is_in_all(package):
    """Whoever adds a ranker, measure, loss, … and forgets ``__all__`` learns it here."""
    for module in pkgutil.walk_packages([str(PACKAGE.joinpath(*package.split(".")))], f"plackett.{package}."):
        import_module(module.name)
    module, _, name = BASES[package].rpartition(".")
    known = {(item.module, item.symbol) for item in catalogue.items()}
    final = set(_final(getattr(import_module(f"plackett.{module}"), name), package))
    assert len(final) > 2
    forgotten = {cls.__name__ for cls in final if (cls.__module__, cls.__name__) not in known}
    assert forgotten <= MADE, "add them to __all__ of their modules"


def test_every_stored_scorer_is_in_all():
    known = {(item.module, item.symbol) for kind in ("scorer", "comparator") for item in catalogue.items(kind)}
    stored = set()
    for result in pkgutil.walk_packages([str(PACKAGE / "scorers")], "plackett.scorers."):
        module = import_module(result.name)
        if hasattr(module, "__home__"):
            continue
        for _, cls in inspect.getmembers(module, inspect.isclass):
            of_its_own = issubclass(cls, (Scorer, Comparator)) and isinstance(vars(cls).get("kind"), str)
            if cls.__module__ == result.name and of_its_own:
                stored.add((result.name, cls.__name__))
    assert stored == known


def test_every_item_is_documented():
    assert [item.name for item in catalogue.items() if not item.summary] == []


def test_names_at_the_top_are_those_of_items(tool):
    known = {f"{item.package}.{item.symbol}" for item in catalogue.items()}
    assert set(tool.TOP) <= known and sorted(tool.TOP) == tool.TOP


def test_packages_are_the_folders():
    folders = {path.parent.name for path in PACKAGE.glob("[!_]*/__init__.py")}
    assert set(PACKAGES) == folders - {"cli"}


@pytest.mark.parametrize("name", sorted(plackett.__all__))
def test_every_public_name_can_be_had_and_is_documented(name):
    value = getattr(plackett, name)
    assert value.__doc__


def test_what_is_called_a_ranker_is_one():
    from plackett.rankers.base import Ranker

    assert [name for name, cls in pk.rankers().items() if not issubclass(cls, Ranker)] == []


def test_every_ranker_is_public():
    """``plackett.LambdaMART`` and the like, without a line anywhere but in its own file."""
    missing = sorted(item.symbol for item in catalogue.items("ranker") if item.symbol not in plackett.__all__)
    assert not missing


@pytest.mark.parametrize("package_name", sorted(PACKAGES))
def test_sub_packages_open_alike(package_name):
    """Each public name can be had from its sub-package, and modules of the same name do not hide it."""
    package = getattr(plackett, package_name)
    for name, item in public_names(package_name).items():
        import_module(item.module)
        assert not isinstance(getattr(package, name), ModuleType), f"plackett.{package_name}.{name}"
        assert name in dir(package)


def test_an_unknown_attribute_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'LambdaMart'"):
        plackett.LambdaMart  # noqa: B018


def test_items_can_be_imported():
    for item in catalogue.items():
        result = getattr(import_module(item.module), item.symbol)
        assert callable(result) or item.symbol.isupper()
        if item.kind in ("scorer", "comparator"):
            assert result.kind == item.name
            load = scorer_class if item.kind == "scorer" else comparator_class
            if item.name != "foreign":  # never stored
                assert load(item.name) is result


def test_scan_reads_what_all_lists(tmp_path, tool):
    (tmp_path / "measures").mkdir()
    (tmp_path / "measures" / "x.py").write_text(
        '__all__ = ["Xyz", "helper"]\n'
        'class Xyz:\n    """Does x. And more.\n\n    References\n    ----------\n    Ab, Cd: Title. 2001.\n    """\n'
        '    name = "x"\n    aliases: tuple = ("ex",)\n'
        "def helper(): ...\n"
        "class Other: ...\n"
    )
    module = f"{tmp_path.name}.measures.x"
    assert tool.scan(tmp_path) == [
        Item("measure", "x", module, "Xyz", "measures", False, ("ex",), "Ab, Cd 2001", "Does x."),
        Item("tool", "helper", module, "helper", "measures", False, (), "", ""),
    ]
    (tmp_path / "measures" / "y.py").write_text('__all__ = ["Again"]\nclass Again:\n    name = "x"\n')
    with pytest.raises(ValueError, match="declared twice"):
        tool.scan(tmp_path)
    (tmp_path / "measures" / "y.py").write_text('__all__ = ["Gone"]\n')
    with pytest.raises(ValueError, match="__all__ names Gone, which this file does not define"):
        tool.scan(tmp_path)


@pytest.mark.parametrize(
    ("reference", "paper"),
    [
        ("Ab: On TREC 2004: novelty. TREC 2005.", "Ab 2005"),
        ("Ab, Cd: A title: more of it. JMLR 36(5), 1999 (the search).", "Ab, Cd 1999"),
        ("Ab: A book. Publisher 2011, section 1.2. Cd: Other. 2012.", "Ab 2011, section 1.2"),
        ("Ab, de Cd. 1971.", "Ab, de Cd 1971"),
        ("A program without a year.", "A program without a year."),
    ],
)
def test_the_paper_is_the_first_reference(reference, paper, tool):
    assert tool.paper_of(f"Does x.\n\nReferences\n----------\n{reference}\n\nExamples\n--------\n>>> 1") == paper


def test_import_is_light():
    """No heavy module is imported before it is used."""
    import subprocess
    import sys

    code = (
        "import sys, plackett; heavy = {'numpy', 'numba', 'sklearn', 'lightgbm', 'polars', 'pandas', 'scipy', 'rich'};"
        "print(sorted(heavy & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"


def test_find_takes_any_spelling_and_names_the_nearest():
    assert catalogue.find("ranker", "lambda_MART").name == "LambdaMART"
    assert catalogue.find("aggregation", "comb-sum").name == "CombSUM"
    assert catalogue.find("measure", "ndcg_cut").name == "nDCG"
    with pytest.raises(pk.DataError, match="unknown ranker 'LambdaMat'; did you mean LambdaMART"):
        catalogue.find("ranker", "LambdaMat")
    with pytest.raises(pk.MeasureError, match="unknown measure 'zzzzz'; `plackett list --kind 'measure'` shows all"):
        catalogue.find("measure", "zzzzz", error=pk.MeasureError)


@pytest.mark.parametrize(
    "call",
    [
        lambda: pk.evaluate([1, 0], [1, 0], "nDGC", qid=[1, 1]),
        lambda: pk.Blend(members=["LisNet"]).fit([[0.0], [1.0]], [0, 1], qid=[1, 1]),
        lambda: pk.fuse([{"q": {"a": 1.0}}], "rrff"),
        lambda: pk.GradientRanker(loss="Hinje").fit([[0.0], [1.0]], [0, 1], qid=[1, 1]),
        lambda: pk.experiment(None, "LambdaMat", "AP"),
    ],
)
def test_every_look_up_names_the_nearest(call):
    with pytest.raises(ValueError, match="unknown .*; did you mean"):
        call()


def test_a_new_model_format_is_one_file(tmp_path, tool):
    (tmp_path / "export").mkdir()
    (tmp_path / "export" / "other.py").write_text(
        'class Other:\n    kind: ClassVar[str] = "other"\n    write = staticmethod(print)\n\nclass Helper:\n    pass\n',
        encoding="utf-8",
    )
    result = tool.scan_formats(tmp_path)
    assert result == [catalogue.ModelFormat("other", "plackett.export.other", "Other", "", True)]


def test_model_formats_read_and_write_what_they_say():
    for known in catalogue.formats():
        cls = known.load()
        assert cls.kind == known.name
        assert hasattr(cls, "write") == known.writes
        assert hasattr(cls, "read") == bool(known.first_line)
