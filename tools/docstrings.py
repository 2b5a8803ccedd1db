"""What the site does to docstrings before they become pages: formulas, examples, references, overridden methods.

The first class is an extension of griffe, which reads the sources for mkdocstrings; the second turns LaTeX into MathML,
which browsers show by themselves.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from xml.etree.ElementTree import Element

import griffe
from latex2mathml.converter import convert
from markdown import Extension as MarkdownExtension
from markdown import Markdown
from markdown.inlinepatterns import InlineProcessor

#: Commands that latex2mathml does not know, and what is the same.
_SAME = {r"\arg": r"\operatorname{arg}", r"\Big\lVert": r"\lVert", r"\Big\rVert": r"\rVert"}
_DISPLAY = re.compile(r"(?m)^( *)\.\. math::(.*(?:\n\1 +\S.*|\n(?=\n*\1 +\S))*)")
_INLINE = re.compile(r":math:`([^`]+)`")
_EXAMPLE = re.compile(r"(?m)^>>> .*\n?(?:(?!\n)[^\n]+\n?)*")
_ENDS = re.compile(r"(19|20)\d\d[^.]*\.$")
_REFERENCES = re.compile(r"(?m)^References\n-+\n((?:.+\n?)*)")


def to_markdown(text: str) -> str:
    """A docstring's formulas, references and free examples as Markdown."""
    text = _DISPLAY.sub(lambda match: f"{match[1]}\\[ {' '.join(match[2].split())} \\]", text)
    text = _INLINE.sub(r"\\( \1 \\)", text)
    text = _REFERENCES.sub(_references, text)
    head, section, rest = text.partition("\nExamples\n---")  # griffe finds the examples of that section itself
    return _EXAMPLE.sub(lambda match: f"```pycon\n{match[0].rstrip()}\n```\n", head) + section + rest


def _references(match: re.Match[str]) -> str:
    """A list; a reference ends with its year, and long ones go on in the next line."""
    items: list[str] = []
    for line in match[1].strip().splitlines():
        if items and not _ENDS.search(items[-1]):
            items[-1] += f" {line.strip()}"
        else:
            items.append(line.strip().removeprefix("- "))
    return "\n".join(["References", "----------", *(f"- {item}" for item in items), ""])


class Docstrings(griffe.Extension):
    """Prepares every docstring of the package."""

    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:
        """Called once, when all modules are read."""
        classes = []
        for item in _walk(pkg):
            if item.docstring:
                item.docstring.value = to_markdown(item.docstring.value)
            if item.is_class:
                classes.append(item)
        for each in classes:  # a method that a base class documents is shown there
            inherited = {name for base in _bases(each) for name in base.members}
            for name, member in each.members.items():
                if name in inherited and not member.is_alias:
                    member.docstring = None


def _walk(item: griffe.Object) -> Iterator[griffe.Object]:
    yield item
    for member in item.members.values():
        if not member.is_alias:
            yield from _walk(member)


def _bases(item: griffe.Class) -> Iterator[griffe.Class]:
    for base in item.resolved_bases:
        target = base.final_target if base.is_alias else base
        if target.is_class:
            yield target
            yield from _bases(target)


class _Formula(InlineProcessor):
    def __init__(self, pattern: str, display: str, markdown: Markdown) -> None:
        super().__init__(pattern, markdown)
        self.display = display

    def handleMatch(self, m: re.Match[str], data: str) -> tuple[str | Element, int, int]:
        """The formula as MathML, kept from further processing."""
        latex = m[1].strip()
        for command, known in _SAME.items():
            latex = latex.replace(command, known)
        formula = convert(latex, display=self.display)
        if left := re.search(r"\\[A-Za-z]+", formula):
            raise ValueError(f"the formula {m[1].strip()} has {left[0]}, which latex2mathml does not know")
        html = f'<span class="formula">{formula}</span>' if self.display == "block" else formula
        return self.md.htmlStash.store(html), m.start(0), m.end(0)


class Formulas(MarkdownExtension):
    r"""LaTeX between ``\( \)`` and ``\[ \]`` becomes MathML."""

    def extendMarkdown(self, md: Markdown) -> None:
        """Before backslashes are read as escapes, after code."""
        md.inlinePatterns.register(_Formula(r"\\\[(.+?)\\\]", "block", md), "formula-block", 186)
        md.inlinePatterns.register(_Formula(r"\\\((.+?)\\\)", "inline", md), "formula", 185)
