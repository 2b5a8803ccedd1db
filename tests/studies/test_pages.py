"""The pages of the studies: what they show is what the studies give."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import pytest

import plackett as pk
from plackett._names.catalogue import items
from studies.base import find_study, studies
from studies.pages import refreshed, repeatable, rows_of

DOCS = Path(__file__).resolve().parents[2] / "docs" / "studies"
#: Less than a second of work each; the others are repeated in the long run of the tests.
QUICK = {
    "pair-dependence",
    "pair-gap",
    "pointwise-problems",
    "push-and-owa",
    "soft-ranks",
    "top-k-loss",
    "linear-weights",
}


def page_of(name):
    return (DOCS / f"{name}.md").read_text("utf-8")


@pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.full) for name in repeatable(DOCS)]
)
def test_a_page_has_the_tables_that_its_command_gives(name):
    """If this fails: `python -m studies.pages NAME`, and read the words around the table again."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tables = find_study(name)().to_markdown()
    page = page_of(name)
    assert rows_of(refreshed(page, tables)) == rows_of(page)


def test_most_pages_can_be_repeated_without_data():
    assert set(repeatable(DOCS)) > QUICK and len(repeatable(DOCS)) > len(studies()) // 2


def test_every_loss_is_on_the_page_of_convex_losses():
    rows = [row.split("|")[1:3] for row in rows_of(page_of("convex-losses"))[1:]]
    public = {item.name for item in items("loss") if "._" not in item.module}
    result = {name: cls for name, cls in pk.losses().items() if cls.has_value and name in public}
    claims = {name: "convex" if cls.convex else "–" for name, cls in result.items()}
    assert {name.strip(): claim.strip() for name, claim in rows} == claims


@pytest.mark.parametrize("name", sorted(set(studies()) - set(repeatable(DOCS))))
def test_pages_on_real_data_name_commands_and_rankers_that_exist(name):
    """They take too long to be repeated; that nothing in them has been renamed is cheap to see."""
    page = page_of(name)
    commands = re.findall(r"^python studies/run.py ([a-z-]+)(.*)$", page, re.MULTILINE)
    assert commands and {command for command, _ in commands} == {name}
    known = {ranker.lower() for ranker in pk.rankers()}
    for _, options in commands:
        for ranker in re.findall(r"(?:-a|--algorithm) (\w+)", options):
            assert ranker.lower() in known
    from inspect import signature

    default = signature(find_study(name)).parameters.get("rankers")
    if default is not None and isinstance(default.default, tuple):
        assert all(ranker in page for ranker in default.default)
