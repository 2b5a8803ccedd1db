"""Nested tags that read like XML, of RankLib and QuickRank.

Only tags, attributes and text are supported: no entities and no document types, so a file cannot expand when it is
read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from plackett.export._lines import ModelText

_NAME = r"[a-z][a-z0-9_-]*"
_TOKEN = re.compile(rf"<(/?)({_NAME})((?:\s+{_NAME}\s*=\s*\"[^\"<>&]*\")*)\s*(/?)>|([^<]+)")
_ATTRIBUTE = re.compile(rf"({_NAME})\s*=\s*\"([^\"]*)\"")


class Tag(NamedTuple):
    """A tag or the text between two: its line, kind (``open``, ``close``, ``text``), name or text, and attributes."""

    line: int
    kind: str
    name: str
    attributes: str = ""

    def attribute(self, name: str) -> str | None:
        """Value of an attribute."""
        return dict(_ATTRIBUTE.findall(self.attributes)).get(name)

    def __str__(self) -> str:
        return {"open": f"<{self.name}>", "close": f"</{self.name}>", "text": repr(self.name[:30])}[self.kind]


class Tags:
    """The tags of a file, one after the other; errors name the line."""

    def __init__(self, model: ModelText, text: str) -> None:
        self.model = model
        self._text = text
        self._tags = self._walk()

    def __iter__(self) -> Iterator[Tag]:
        return self._tags

    def _walk(self) -> Iterator[Tag]:
        position, line = 0, 1
        while position < len(self._text):
            token = _TOKEN.match(self._text, position)
            if token is None:
                self.model.fail(line, f"expected a tag such as <split>, found {self._text[position : position + 30]!r}")
            slash, name, attributes, closed, text = token.groups()
            if name is not None:
                yield Tag(line, "close" if slash else "open", name, attributes)
                if closed and not slash:  # <tag/>
                    yield Tag(line, "close", name)
            elif text.strip():
                yield Tag(line, "text", text.strip())
            line += token[0].count("\n")
            position = token.end()

    def next(self) -> Tag:
        """The next tag."""
        tag = next(self._tags, None)
        if tag is None:
            self.model.fail(self.model.text.count("\n") + 1, "the file ends inside a tree")
        return tag

    def expect(self, kind: str, name: str, tag: Tag | None = None) -> Tag:
        """The next tag, or the given one, which must be this."""
        tag = self.next() if tag is None else tag
        if (tag.kind, tag.name) != (kind, name):
            self.model.fail(tag.line, f"expected <{'/' if kind == 'close' else ''}{name}>, found {tag}")
        return tag

    def value(self, name: str) -> tuple[int, str]:
        """Line and text of an element that was opened."""
        tag = self.next()
        if tag.kind != "text":
            self.model.fail(tag.line, f"an empty <{name}>")
        self.expect("close", name)
        return tag.line, tag.name
