"""The query language: words, phrases, fields, Boolean operators, ranges."""

from __future__ import annotations

import re
import typing
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from plackett._base.errors import DataError, in_shell
from plackett._names.nearest import nearest, question
from plackett.text.index.index import Index
from plackett.text.search.phrases import phrase_mask

#: Deepest nesting of parentheses.
_DEEPEST = 50

_TOKEN = re.compile(
    r"""\s*(?:
        (?P<open>\() | (?P<close>\)) |
        (?P<sign>[+-])(?=\S) |
        (?P<operator>AND|OR|NOT)(?![^\s()]) |
        (?:(?P<field>[^\s():"+<>=-][^\s():"<>=]*):(?=\S))? (?:
            "(?P<phrase>[^"]*)(?P<end>"?) |
            (?P<compare>[<>]=?|=)(?P<bound>[^\s()"]+) |
            (?P<low>[^\s()".]*(?:\.[^\s()".]+)*)\.\.(?P<high>[^\s()"]*) |
            (?P<word>[^\s()"]+)
        )
    )""",
    re.VERBOSE,
)
#: Not a field despite the colon: times of day and addresses.
_NO_FIELD = re.compile(r"\d.*|[A-Za-z][A-Za-z0-9+.-]*://.*")
#: Comparisons that need an order.
_ORDER = ("<", "<=", ">", ">=")


class Node:
    """A part of a query."""

    #: Whether it only selects documents, and has no terms to score.
    filters = False

    def mask(self, index: Index) -> np.ndarray:
        """Boolean by document: whether it matches."""
        raise NotImplementedError

    def terms(self, index: Index) -> Iterator[tuple[str, str]]:
        """Fields and terms to score documents by; excluded parts have none."""
        yield from ()

    def texts(self) -> Iterator[str]:
        """The words that the query looks for, without operators, conditions and excluded parts."""
        yield from ()


@dataclass(frozen=True)
class Words(Node):
    """Any of the words of a text (usually one) in a field."""

    text: str
    field: str

    def mask(self, index: Index) -> np.ndarray:
        """Boolean by document."""
        field = index.field(self.field)
        mask = np.zeros(field.n_documents, np.bool_)
        for term in field.term_ids(index.analyzer.tokens(self.text)):
            if term >= 0:
                mask[field.postings.documents[field.postings.offsets[term] : field.postings.offsets[term + 1]]] = True
        return mask

    def terms(self, index: Index) -> Iterator[tuple[str, str]]:
        """Fields and terms to score by."""
        yield from ((self.field, token) for token in index.analyzer.tokens(self.text))

    def texts(self) -> Iterator[str]:
        """The words."""
        yield self.text


@dataclass(frozen=True)
class Phrase(Node):
    """Words side by side in a field."""

    text: str
    field: str

    def mask(self, index: Index) -> np.ndarray:
        """Boolean by document."""
        return phrase_mask(index.field(self.field), index.analyzer.words(self.text))

    def terms(self, index: Index) -> Iterator[tuple[str, str]]:
        """Fields and terms to score by."""
        yield from ((self.field, token) for token in index.analyzer.words(self.text) if token is not None)

    def texts(self) -> Iterator[str]:
        """The words."""
        yield self.text


@dataclass(frozen=True)
class Range(Node):
    """Numbers or dates between two bounds, each of which may be missing."""

    field: str
    low: str = ""
    high: str = ""
    with_low: bool = True
    with_high: bool = True
    #: Its column in the query, from 1; for errors.
    column: int = 0
    filters = True

    def mask(self, index: Index) -> np.ndarray:
        """Boolean by document; a missing value is in no range."""
        values = index.values(self.field)
        kind = index.kinds[self.field]
        if kind not in ("number", "date"):
            raise DataError(f"query, column {self.column}: {_no_range(self.field, kind)}")
        mask = ~(np.isnat(values) if kind == "date" else np.isnan(values))
        if self.low:
            first, last = _bounds(self.low, kind, self)
            mask &= values >= first if self.with_low else values > last
        if self.high:
            upper, last = _bounds(self.high, kind, self)
            if self.low and np.greater(first, last):
                raise DataError(
                    f"query, column {self.column}: {self.low}..{self.high} is empty; write the smaller bound first"
                )
            mask &= values <= last if self.with_high else values < upper
        return mask


@dataclass(frozen=True)
class Value(Node):
    """One value of a keyword, a number or a date."""

    field: str
    value: str
    column: int = 0
    filters = True

    def mask(self, index: Index) -> np.ndarray:
        """Boolean by document."""
        if index.kinds[self.field] in ("number", "date"):
            return Range(self.field, self.value, self.value, column=self.column).mask(index)
        mask: np.ndarray = index.values(self.field) == self.value
        return mask


@dataclass(frozen=True)
class Not(Node):
    """Documents that do not match a part."""

    node: Node
    filters = True

    def mask(self, index: Index) -> np.ndarray:
        """Boolean by document."""
        return ~self.node.mask(index)


class Group(Node):
    """Parts that are scored together."""

    nodes: Sequence[Node]

    @property
    def filters(self) -> bool:  # type: ignore[override]
        """Whether all parts only select."""
        return all(node.filters for node in self.nodes)

    def terms(self, index: Index) -> Iterator[tuple[str, str]]:
        """Fields and terms to score by."""
        for node in self.nodes:
            yield from node.terms(index)

    def texts(self) -> Iterator[str]:
        """The words of all parts."""
        for node in self.nodes:
            yield from node.texts()


@dataclass(frozen=True)
class All(Group):
    """Documents that match all parts."""

    nodes: tuple[Node, ...]

    def mask(self, index: Index) -> np.ndarray:
        """Boolean by document."""
        return reduce(np.logical_and, (node.mask(index) for node in self.nodes))


@dataclass(frozen=True)
class Any(Group):
    """Documents that match any part."""

    nodes: tuple[Node, ...]

    def mask(self, index: Index) -> np.ndarray:
        """Boolean by document."""
        return reduce(np.logical_or, (node.mask(index) for node in self.nodes))


@dataclass(frozen=True)
class Clauses(Group):
    """Parts without operators: some required, some excluded, the others optional.

    Filters (ranges, values of keywords) are required. If nothing else is, at least one of the others must match.
    """

    required: tuple[Node, ...] = ()
    excluded: tuple[Node, ...] = ()
    optional: tuple[Node, ...] = ()

    @property
    def nodes(self) -> tuple[Node, ...]:  # type: ignore[override]
        """The parts that are scored."""
        return (*self.required, *self.optional)

    @property
    def plain(self) -> bool:
        """Whether it consists of words only: every document with a score matches."""
        return not self.required and not self.excluded and all(isinstance(node, Words) for node in self.optional)

    def mask(self, index: Index) -> np.ndarray:
        """Boolean by document."""
        nodes = [*self.required, *map(Not, self.excluded)]
        if self.optional and all(node.filters for node in self.required):
            nodes.append(Any(self.optional))
        return All(tuple(nodes)).mask(index) if nodes else np.zeros(index.n_documents, np.bool_)


def parse(text: str, index: Index, field: str | None = None) -> Clauses:
    """Read a query; ``field`` is searched for words that do not name a field.

    ==========================  ======================================================================
    ``blue whale``              either word; the more, the better
    ``"blue whale"``            the words side by side
    ``+blue -whale``            required, excluded
    ``blue AND (whale OR NOT sky)``  operators, in capitals
    ``title:whale``             in a field
    ``year:>=1990``             numbers and dates: ``<``, ``<=``, ``>``, ``>=``, ``=``
    ``released:2020-01..2021``  from and to; either may be left out
    ``genre:Comedy``            a keyword field, exactly
    ==========================  ======================================================================

    Examples
    --------
    >>> from plackett.text.document import Document
    >>> index = Index.build([Document("a", {"body": "blue whales", "year": 1990}), Document("b", {"body": "blue sky"})])
    >>> parse('blue -"blue sky" year:>1980', index).mask(index).tolist()
    [True, False]
    """
    return _Parser(text, index, field or index.default_field).parse()


def condition_mask(filters: str, index: Index, field: str | None = None) -> np.ndarray:
    """Boolean by document: whether it fulfils conditions; errors name them, not the query.

    >>> from plackett.text.document import Document
    >>> index = Index.build([Document("a", {"body": "blue whales", "year": 1990})])
    >>> condition_mask("year:1991..", index).tolist()
    [False]
    """
    try:
        return parse(filters, index, field).mask(index)
    except DataError as error:
        raise DataError(re.sub(r"^query\b", "filters", str(error))) from None


class _Parser:
    """Reads tokens from left to right."""

    def __init__(self, text: str, index: Index, default: str) -> None:
        self.index, self.default = index, default
        self.size = len(text.rstrip())
        self.tokens: list[re.Match[str]] = []
        at = 0
        while at < self.size:
            match = _TOKEN.match(text, at)
            if match is None or match.end() == at:
                raise DataError(f"query, column {at + 1}: cannot be read from here: {text[at : at + 20]!r}")
            if match["phrase"] is not None and not match["end"]:
                raise DataError(f"query, column {match.start('phrase')}: the quotation mark is not closed")
            self.tokens.append(match)
            at = match.end()
        self.at = 0

    def parse(self) -> Clauses:
        clauses = self.clauses(0)
        if self.at < len(self.tokens):
            raise DataError(f"{self.where(self.at)}: a closing parenthesis without an opening one")
        return clauses

    def where(self, token: int) -> str:
        """Column of a token, or of the end."""
        if token >= len(self.tokens):
            return f"query, column {self.size + 1}"
        match = self.tokens[token]
        return f"query, column {match.end() - len(match.group().lstrip()) + 1}"

    def next(self, kind: str, text: str | None = None) -> bool:
        """Whether the next token is of a kind; if so it is taken."""
        if self.at < len(self.tokens) and self.tokens[self.at][kind] and text in (None, self.tokens[self.at][kind]):
            self.at += 1
            return True
        return False

    def clauses(self, depth: int) -> Clauses:
        if depth > _DEEPEST:
            raise DataError(f"{self.where(self.at - 1)}: more than {_DEEPEST} parentheses inside each other")
        parts: dict[str, list[Node]] = {"": [], "+": [], "-": []}
        while self.at < len(self.tokens) and not self.tokens[self.at]["close"]:
            sign = ""
            if self.next("sign"):
                sign = self.tokens[self.at - 1]["sign"]
            node = self.either(depth)
            if isinstance(node, Not) and not sign:
                parts["-"].append(node.node)
            else:
                parts["+" if node.filters and not sign else sign].append(node)
        return Clauses(tuple(parts["+"]), tuple(parts["-"]), tuple(parts[""]))

    def either(self, depth: int) -> Node:
        nodes = [self.both(depth)]
        while self.next("operator", "OR"):
            nodes.append(self.both(depth))
        return nodes[0] if len(nodes) == 1 else Any(tuple(nodes))

    def both(self, depth: int) -> Node:
        nodes = [self.unit(depth)]
        while self.next("operator", "AND"):
            nodes.append(self.unit(depth))
        return nodes[0] if len(nodes) == 1 else All(tuple(nodes))

    def unit(self, depth: int) -> Node:
        if self.next("operator", "NOT"):
            if depth >= _DEEPEST:
                raise DataError(f"{self.where(self.at - 1)}: more than {_DEEPEST} times NOT")
            return Not(self.unit(depth + 1))
        if self.next("open"):
            opened = self.at - 1
            inner = self.clauses(depth + 1)
            if not self.next("close"):
                raise DataError(f"{self.where(opened)}: the parenthesis is not closed")
            return inner
        if self.at == len(self.tokens) or self.tokens[self.at]["close"] or self.tokens[self.at]["operator"]:
            what = "the end" if self.at == len(self.tokens) else repr(self.tokens[self.at].group().strip())
            raise DataError(f"{self.where(self.at)}: a word or a parenthesis is missing before {what}")
        token = self.tokens[self.at]
        self.at += 1
        return self.leaf(token)

    def leaf(self, token: re.Match[str]) -> Node:
        name = token["field"]
        if token["sign"]:
            raise DataError(f"query, column {token.start('sign') + 1}: a sign belongs in front of a word")
        if name is None:
            if token["phrase"] is not None:
                return Phrase(token["phrase"], self.default)
            return Words(token.group().strip(), self.default)
        index = self.index
        if name not in index.kinds and name not in index.fields:
            if _NO_FIELD.fullmatch(token.group().strip()):  # a time of day or an address has a colon too
                return Words(token.group().strip(), self.default)
            known = sorted({*index.kinds, *index.fields})
            near = nearest(name, known, 3)
            advice = question(near) if near else f"it has {', '.join(known)}"
            raise DataError(
                f"query, column {token.start('field') + 1}: the index has no field {name!r}; {advice} "
                "(a word with a colon is written in quotation marks)"
            )
        column = token.start("field") + 1
        if name in index.fields:
            if token["phrase"] is not None:
                return Phrase(token["phrase"], name)
            bounds = (token["bound"],) if token["compare"] in _ORDER else (token["low"], token["high"])
            if any(bound and bound[0].isdigit() for bound in bounds):
                raise DataError(f"query, column {column}: {_no_range(name, 'text')}")
            return Words(token.group().strip()[len(name) + 1 :], name)
        if token["compare"]:
            operator, bound = token["compare"], token["bound"]
            if operator == "=":
                return Value(name, bound, column)
            closed = operator.endswith("=")
            if operator[0] == ">":
                return Range(name, bound, with_low=closed, column=column)
            return Range(name, "", bound, with_high=closed, column=column)
        if token["low"] is not None:
            return Range(name, token["low"], token["high"], column=column)
        return Value(name, token["phrase"] if token["phrase"] is not None else token["word"], column)


_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?|[+-]?inf(inity)?", re.IGNORECASE | re.ASCII)
_DATE = re.compile(r"\d{4}(-|$)", re.ASCII)


def _no_range(field: str, kind: str) -> str:
    """Why a field has no ranges, and what to do."""
    again = "--kind {0}=date" if in_shell() else "kinds={{{0!r}: 'date'}}"
    return (
        f"{field!r} holds {kind}; ranges such as >=1990 are of numbers and dates "
        f"(if it does hold dates or numbers, index the documents again with {again.format(field)} or number)"
    )


def _bounds(text: str, kind: str, node: Range) -> tuple[np.generic, np.generic]:
    """First and last value that a text means: a year, a month or a day is a span of time."""
    try:
        if kind == "number":
            if not _NUMBER.fullmatch(text):  # float() also reads nan and 1_000
                raise ValueError(text)
            return np.float64(text), np.float64(text)
        if not _DATE.match(text):  # NumPy also reads now, today, NaT, and 20240531 as a year
            raise ValueError(text)
        date = np.datetime64(text)
        unit: typing.Any = np.datetime_data(date.dtype)[0]
        after = date + np.timedelta64(1, unit)
        return date.astype("M8[us]"), after.astype("M8[us]") - np.timedelta64(1, "us")
    except (ValueError, OverflowError):
        example = "2024-05-31" if kind == "date" else "1990"
        raise DataError(
            f"query, column {node.column}: {text!r} is not a {kind}, but {node.field!r} holds {kind}s; "
            f"write it as {example}"
        ) from None
