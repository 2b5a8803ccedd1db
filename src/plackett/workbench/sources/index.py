"""A text index as a source."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from plackett._base.errors import DataError
from plackett._base.literals import call
from plackett.data.dataset import RankingDataset
from plackett.text.document import Document
from plackett.text.features.declaration import model_of
from plackett.text.features.extract import extract
from plackett.text.features.feature_set import FeatureSet
from plackett.text.index.index import Index
from plackett.text.pipeline import FILE as PIPELINE
from plackett.text.pipeline import SearchPipeline
from plackett.text.search.query import parse
from plackett.text.search.searching import Hit
from plackett.workbench.columns.base import Column, Query
from plackett.workbench.columns.pipeline import PipelineColumn
from plackett.workbench.columns.retrieval import BM25Column, ModelColumn
from plackett.workbench.columns.run import RunColumn
from plackett.workbench.sources.base import WorkbenchSource
from plackett.workbench.sources.runs import read_results

#: Marks around matched words while a snippet is text: characters of the private use area, taken out of documents first.
_OPEN, _CLOSE = "\ue000", "\ue001"
_MARKED = re.compile(f"{_OPEN}(.*?){_CLOSE}", re.DOTALL)
#: Names that must be files, and not models such as ``BM25(k1=0.9)`` or ``LMIR.DIR``.
_FILE = re.compile(r".*\.[a-z][a-z0-9]*", re.DOTALL)
#: Fields that name a document; the first one present counts.
_TITLES = ("title", "name", "headline", "subject")
#: Characters of the beginning of a document that a card has.
_LEAD = 160
#: Characters of a field that are sent to the page.
_LONGEST = 20_000


class IndexSource(WorkbenchSource):
    """An index: any text can be searched."""

    kind: ClassVar[str] = "index"
    searchable: ClassVar[bool] = True

    def __init__(self, index: Index, title: str = "index", features: Any = None) -> None:
        super().__init__(title)
        self.index = index
        #: Declarations that model files given as rankers were trained on, and that training offers.
        self.features = default_features(index) if features is None else features
        self.put(BM25Column("BM25", index))

    @property
    def n_documents(self) -> int:
        """Number of documents."""
        return self.index.n_documents

    def add(self, given: str) -> Column:
        """A retrieval model such as ``RM3(n_terms=10)``, a model file, a saved pipeline, or a run file."""
        path = Path(given)
        if (path / PIPELINE).is_file():
            return self.put(PipelineColumn(path.name, SearchPipeline.load(path)))
        if path.is_file():
            if path.suffix == ".plackett":
                from plackett.rankers.storage import load

                return self.add_ranker(path.stem, load(path), self.features)
            return self.put(RunColumn(path.stem, read_results(path)))
        if "/" in given or (path.suffix and _FILE.fullmatch(given)):
            raise DataError(f"{given}: no such file")
        if given == "BM25":
            return self.columns["BM25"]
        try:
            name, parameters = call(given) if "(" in given else (given, {})
        except ValueError as error:
            raise DataError(f"ranker {given!r}: {error}") from None
        return self.put(ModelColumn(given, self.index, model_of(name, parameters)))

    def complete(self) -> None:
        """RM3 beside BM25."""
        if len(self.columns) == 1:
            self.add("RM3")

    def add_ranker(self, name: str, ranker: Any, features: Any) -> Column:
        """Add a column that ranks BM25's candidates."""
        chosen = _declared(self.features, features)
        return self.put(PipelineColumn(name, SearchPipeline(self.index, ranker, chosen)))

    # ------------------------------------------------------------------------------------------------------ documents

    def cards(self, ids: Sequence[str], query: Query) -> list[dict[str, Any]]:
        """Title and snippet of each document."""
        terms = self._terms(query)
        numbers = self.index.numbers(ids).tolist()
        return [self._card(docid, number, terms) for docid, number in zip(ids, numbers, strict=True)]

    def _card(self, docid: str, number: int, terms: Any) -> dict[str, Any]:
        if number < 0:
            return {"id": docid, "title": docid, "snippet": [["This document is not in the index.", False]]}
        hit = Hit(docid, 0.0, number, self.index, terms)
        title, shown = self._title(docid, number)
        kinds = self.index.kinds
        fields = {
            name: _shown(value)
            for name, value in hit.document.fields.items()
            if kinds[name] != "text" and name != shown and _shown(value) not in (None, "")
        }
        text = hit.snippet(marks=(_OPEN, _CLOSE), skip=_TITLES)
        if _OPEN not in text:
            text = hit.snippet(marks=(_OPEN, _CLOSE)) or text
        shown_text = text.replace(_OPEN, "").replace(_CLOSE, "")
        if shown_text == title:  # nothing but the title matches
            text = shown_text = ""
        return {
            "id": docid,
            "title": title,
            "snippet": _segments(text),
            "fields": fields,
            "lead": self._lead(hit.document, shown_text, title),
        }

    def _lead(self, document: Document, snippet: str, title: str) -> str:
        """The beginning of the longest text of a document; empty if the snippet or the title has it."""
        kinds = self.index.kinds
        texts = [v for n, v in document.fields.items() if kinds.get(n) == "text" and isinstance(v, str)]
        longest = max(texts, key=len, default="")[: 2 * _LEAD].split()
        lead = " ".join(longest)
        if not lead or lead == title or snippet.startswith(lead[:40]):
            return ""
        return lead if len(lead) <= _LEAD else lead[:_LEAD].rsplit(" ", 1)[0] + " …"

    def _title(self, docid: str, number: int) -> tuple[str, str]:
        fields = self.index.document(number).fields
        for name in _TITLES:
            if isinstance(fields.get(name), str) and fields[name].strip():
                return " ".join(fields[name].split())[:200], name
        return docid, ""

    def document(self, docid: str, query: Query) -> dict[str, Any]:
        """The stored fields; words of the query are marked in text."""
        number = int(self.index.numbers([docid])[0])
        if number < 0:
            raise DataError(f"the index has no document {docid!r}")
        document = self.index.document(number)
        terms = {term for own in self._terms(query).values() for term in own}
        fields = []
        for name, value in document.fields.items():
            kind = self.index.kinds[name]
            if kind == "text":
                text = str(value)[:_LONGEST]
                shown: Any = _marked(text, self.index, terms)
            else:
                shown = [[str(_shown(value)), False]]
            if value not in (None, ""):
                fields.append({"name": name, "kind": kind, "value": shown})
        links = [link.target for link in document.links[:50]]
        return {"id": docid, "title": self._title(docid, number)[0], "fields": fields, "links": links}

    def matches(self, docid: str, query: Query) -> list[dict[str, Any]]:
        """Counts of the query's terms in each text field of a document."""
        number = int(self.index.numbers([docid])[0])
        tokens = list(dict.fromkeys(term for own in self._terms(query).values() for term in own))
        rows = []
        for name in self.index.settings.text_fields if number >= 0 else ():
            field = self.index.field(name)
            a, b = field.forward.offsets[number : number + 2]
            own = dict(zip(field.forward.terms[a:b].tolist(), field.forward.counts[a:b].tolist(), strict=True))
            for token, term in zip(tokens, field.term_ids(tokens).tolist(), strict=True):
                if term in own:
                    rows.append(
                        {
                            "field": name,
                            "term": token,
                            "count": own[term],
                            "length": int(field.lengths[number]),
                            "documents": int(field.document_frequency[term]),
                        }
                    )
        return rows

    def _terms(self, query: Query) -> dict[str, dict[str, int]]:
        """Terms of a query by field; text that the query language cannot parse is plain words."""
        terms: dict[str, dict[str, int]] = {}
        try:
            for name, token in parse(query.text, self.index, self.index.default_field).terms(self.index):
                terms.setdefault(name, {})[token] = 1
        except DataError:
            terms = {self.index.default_field: dict.fromkeys(self.index.analyzer.tokens(query.text), 1)}
        return terms

    @property
    def filterable(self) -> list[dict[str, str]]:
        """All stored fields."""
        return [{"name": name, "kind": kind} for name, kind in self.index.kinds.items()]

    # ------------------------------------------------------------------------------------------------------- training

    def feature_choice(self) -> list[dict[str, Any]]:
        """The declared features."""
        return [{"name": name, "chosen": True} for name in FeatureSet(self.features).names]

    def training_data(
        self,
        queries: Mapping[str, str],
        labels: Mapping[str, Mapping[str, float]],
        features: Sequence[str],
        *,
        judged_only: bool = False,
    ) -> RankingDataset:
        """Candidates of BM25, and judged documents that it misses, with their features."""
        known = {qid: text for qid, text in queries.items() if qid in labels}
        if not known:
            raise DataError("none of these queries has a judgement; judge some documents first")
        chosen = _declared(self.features, features)
        more: dict[str, Any] = {"candidates": "judged"} if judged_only else {"add_judged": True}
        return extract(self.index, known, chosen, judgements=labels, **more)


def default_features(index: Index) -> list[dict[str, Any]]:
    """Declarations that fit any index: BM25, language model, term frequency and length by field, proximity."""
    names = list(index.fields)
    declared: list[dict[str, Any]] = [
        {"model": "BM25", "fields": names},
        {"model": "LMIR.DIR", "fields": names},
        {"model": "TF-IDF", "field": index.default_field},
        {"model": "RM3", "field": index.default_field},
        {"length": index.default_field},
    ]
    declared += [{"attribute": name} for name, kind in index.kinds.items() if kind == "number"]
    return declared


def _declared(declarations: Any, names: Any) -> list[Any]:
    """The features with these names, or all; anything but a list of names is taken as the declarations."""
    if not isinstance(names, (list, tuple)) or not all(isinstance(name, str) for name in names):
        return names
    every = FeatureSet(declarations)
    if not names:
        return _flat(declarations)
    unknown = [name for name in names if name not in every.names]
    if unknown:
        raise DataError(f"unknown feature {unknown[0]!r}; there are {', '.join(every.names)}")
    return [one for one, name in zip(_flat(declarations), every.names, strict=True) if name in names]


def _flat(declarations: Any) -> list[Any]:
    """Declarations of one feature each."""
    flat: list[Any] = []
    for one in declarations:
        several = one.get("fields") if isinstance(one, Mapping) else None
        if several:
            rest = {key: value for key, value in one.items() if key != "fields"}
            flat += [{**rest, "field": name} for name in several]
        else:
            flat.append(one)
    return flat


def _segments(text: str) -> list[list[Any]]:
    """A text with marks as pieces: text, and whether it is marked."""
    pieces = _MARKED.split(text)
    return [[piece, bool(i % 2)] for i, piece in enumerate(pieces) if piece]


def _marked(text: str, index: Index, terms: set[str]) -> list[list[Any]]:
    pieces: list[list[Any]] = []
    end = 0
    for start, stop, span_terms in index.analyzer.spans(text):
        if terms.intersection(t for t in span_terms if t is not None):
            if start > end:
                pieces.append([text[end:start], False])
            pieces.append([text[start:stop], True])
            end = stop
    if end < len(text):
        pieces.append([text[end:], False])
    return pieces


def _shown(value: Any) -> Any:
    """A stored value as JSON has it."""
    if isinstance(value, (float, np.floating)):
        return None if not np.isfinite(value) else int(value) if float(value).is_integer() else round(float(value), 6)
    if value is None or isinstance(value, (str, int, bool)):
        return value
    return str(value)
