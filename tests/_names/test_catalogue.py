"""The catalogue is fresh, honest and complete."""

from __future__ import annotations

import ast
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

import plackett
import plackett as pk
from plackett._names import catalogue
from plackett._names.index import PACKAGES

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "plackett"


@cache
def _tested_ids() -> set[str]:
    """Ids named in ``pytest.mark.spec(...)`` anywhere in the tests."""
    ids: set[str] = set()
    for path in (ROOT / "tests").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)) if "mark.spec(" in text else ():
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "spec":
                ids |= {a.value for a in node.args if isinstance(a, ast.Constant) and isinstance(a.value, str)}
    return ids


def test_index_and_page_are_fresh():
    assert (PACKAGE / "_names" / "index.py").read_text(encoding="utf-8") == catalogue.index_source(PACKAGE)
    assert (ROOT / "docs" / "catalogue.md").read_text(encoding="utf-8") == catalogue.page(PACKAGE)
    for path, text in catalogue.stubs(PACKAGE).items():
        assert path.read_text(encoding="utf-8") == text, f"{path} is stale: run `make docs`"


def test_every_claimed_id_exists_and_has_a_test():
    claimed = {i for item in catalogue.items() for i in item.ids}
    known = {requirement.id for requirement in catalogue.requirements()}
    assert claimed <= known, f"not in the inventory: {sorted(claimed - known)}"
    assert claimed <= _tested_ids(), f"claimed, but no test is marked with it: {sorted(claimed - _tested_ids())}"


def test_every_marked_id_is_known():
    known = {requirement.id for requirement in catalogue.requirements()}
    assert _tested_ids() <= known, sorted(_tested_ids() - known)


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
    for name, module in PACKAGES[package_name].items():
        import_module(module)
        assert not isinstance(getattr(package, name), ModuleType), f"plackett.{package_name}.{name}"
        assert name in dir(package)


def test_ids_are_not_part_of_the_public_face():
    assert not hasattr(plackett.LambdaMART, "ids") and not hasattr(plackett.evaluate, "ids")


def test_an_unknown_attribute_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'LambdaMart'"):
        plackett.LambdaMart  # noqa: B018


def test_items_can_be_imported():
    for item in catalogue.items():
        found = getattr(import_module(item.module), item.symbol)
        assert callable(found)
        if item.kind in ("scorer", "comparator"):
            assert found.kind == item.name
            assert catalogue.stored_class(item.kind, item.name) is found


def test_scan_reads_classes_and_functions(tmp_path):
    (tmp_path / "measures").mkdir()
    (tmp_path / "measures" / "x.py").write_text(
        'class Xyz:\n    """Does x. And more.\n\n    Much.\n    """\n'
        '    name = "x"\n    _ids = ("a", "b")\n    paper: str = "P"\n'
        '@fulfils("c", paper="Q")\ndef helper(): ...\n'
        "class Other: ...\n"
    )
    found = [tuple(item) for item in catalogue.scan(tmp_path)]
    assert found == [
        ("measure", "x", "plackett.measures.x", "Xyz", ("a", "b"), "P", (), "Does x."),
        ("tool", "helper", "plackett.measures.x", "helper", ("c",), "Q", (), ""),
    ]
    (tmp_path / "measures" / "y.py").write_text('class Again:\n    name = "x"\n    _ids = ()\n')
    with pytest.raises(ValueError, match="declared twice"):
        catalogue.scan(tmp_path)


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


def test_a_new_model_format_is_one_file(tmp_path):
    (tmp_path / "export").mkdir()
    (tmp_path / "export" / "other.py").write_text(
        'class Other:\n    kind: ClassVar[str] = "other"\n    write = staticmethod(print)\n\nclass Helper:\n    pass\n',
        encoding="utf-8",
    )
    found = catalogue.scan_formats(tmp_path)
    assert found == [catalogue.Format("other", "plackett.export.other", "Other", "", True)]


def test_model_formats_read_and_write_what_they_say():
    for known in catalogue.formats():
        cls = known.load()
        assert cls.kind == known.name
        assert hasattr(cls, "write") == known.writes
        assert hasattr(cls, "read") == bool(known.first_line)
