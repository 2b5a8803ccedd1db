"""Term statistics as LETOR 3.0 ships them: the meta data from which its text features can be recomputed."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

import numpy as np

from plackett._base.arguments import choice
from plackett._base.errors import DataError, reading
from plackett._base.progress import progress
from plackett.text.features.base import Feature
from plackett.text.features.model import ModelFeature
from plackett.text.features.query import QueryFeature, query_values
from plackett.text.features.transforms import TRANSFORMS
from plackett.text.retrieval.base import TermModel
from plackett.text.retrieval.bm25 import BM25
from plackett.text.retrieval.language_model import LanguageModel
from plackett.text.retrieval.matches import Collection, Matches

__all__ = ["features_of_meta", "read_letor_meta"]


class LetorMeta(NamedTuple):
    """Statistics of one query and its documents, stream by stream."""

    qid: str
    docids: list[str]
    #: Term statistics by stream.
    streams: list[Matches]
    #: Whether each document has each stream: documents × streams.
    present: np.ndarray


def read_letor_meta(folder: str | os.PathLike[str], *, verbose: bool = False) -> Iterator[LetorMeta]:
    """Read the folder of meta data of a LETOR 3.0 set: ``collectioninfo.xml`` and a file per query.

    Yields the queries in the order of their numbers.

    References
    ----------
    Qin, Liu, Xu, Li: LETOR: a benchmark collection for research on learning to rank for information retrieval.
    Information Retrieval 13, 2010.
    """
    path = Path(folder)
    if not (path / "collectioninfo.xml").exists():
        raise DataError(f"{path} has no collectioninfo.xml: not a folder of LETOR's meta data")
    with reading(path / "collectioninfo.xml", "the file"):
        collections = _collections(ElementTree.parse(path / "collectioninfo.xml").getroot())
    files = sorted(path.glob("query-*.xml"), key=lambda file: [int(n) for n in re.findall(r"\d+", file.name)])
    for file in progress(files, "reading meta data", len(files), verbose=verbose):
        with reading(file, "the file"):
            meta = _query(file, collections)
        yield meta


def _number(element: ElementTree.Element, name: str) -> int:
    text = element.findtext(name)
    if text is None:
        raise DataError(f"<{element.tag}> has no <{name}>")
    return int(text)


def _collections(root: ElementTree.Element) -> list[Collection]:
    n = _number(root, "docnum")
    collections = []
    for stream in root.iter("stream"):
        total = _number(stream, "totaltermnum")
        collections.append(Collection(n, total, total / max(n, 1), _number(stream, "uniquetermnum")))
    return collections


def _query(file: Path, collections: list[Collection]) -> LetorMeta:
    n_streams = len(collections)
    qid, words = "", []
    frequencies: list[list[tuple[int, int]]] = []
    docids: list[str] = []
    lengths: list[list[tuple[int, int]]] = []
    counts: list[list[list[int]]] = []
    for _, element in ElementTree.iterparse(file):
        if element.tag == "id":
            qid = element.text or ""
        elif element.tag == "terminfo":
            for term in element.iter("term"):
                words.append(term.findtext("word") or "")
                frequencies.append(
                    [(_number(s, "streamfrequency"), _number(s, "streamtermfrequency")) for s in term.iter("stream")]
                )
            element.clear()
        elif element.tag == "doc":
            docids.append(element.findtext("docid") or "")
            streams = list(element.iter("stream"))
            lengths.append([(_number(s, "length"), _number(s, "uniquelength")) for s in streams])
            counts.append([[int(t.text or 0) for t in s.iter("termfrequency")] for s in streams])
            element.clear()
    distinct = list(dict.fromkeys(words))
    first = np.array([words.index(word) for word in distinct], np.int64)
    weights = np.array([words.count(word) for word in distinct], np.float64)
    present = np.zeros((len(docids), n_streams), np.bool_)
    matches = []
    for s, collection in enumerate(collections):
        tf = np.zeros((len(docids), len(words)), np.int32)
        size = np.zeros((2, len(docids)), np.int32)
        for d, (own, terms) in enumerate(zip(lengths, counts, strict=True)):
            if s < len(own):
                present[d, s] = True
                size[:, d] = own[s]
                tf[d] = terms[s]
        df_cf = np.array([pairs[s] for pairs in frequencies], np.float64).reshape(-1, 2)[first]
        matches.append(
            Matches(
                np.array([0, len(docids)]),
                np.array([0, first.size]),
                np.array([0, len(docids) * first.size]),
                np.ascontiguousarray(tf[:, first]).ravel(),
                size[0],
                size[1],
                weights,
                np.ascontiguousarray(df_cf[:, 0]),
                np.ascontiguousarray(df_cf[:, 1]),
                collection,
            )
        )
    return LetorMeta(qid, docids, matches, present)


def features_of_meta(
    meta: LetorMeta, features: list[Feature], streams: list[str], *, missing: str = "null"
) -> np.ndarray:
    """Features of a query's documents from its statistics, with LETOR's rules for missing values.

    BM25, its logarithm and language models are missing where a document has none of the query's terms in the stream.

    Parameters
    ----------
    features
        Features that need term statistics only, such as those of `ohsumed_features`.
    streams
        Names by which the features call the streams.
    missing
        ``"null"``: missing values are NaN (the files ``Feature-null``); ``"min"``: they are 0 for BM25 and its
        logarithm and the query's smallest value for language models (the files ``Feature-min``).

    References
    ----------
    Qin, Liu, Xu, Li: LETOR: a benchmark collection for research on learning to rank for information retrieval.
    Information Retrieval 13, 2010.
    """
    choice("missing", missing, ("null", "min"))
    out = np.empty((len(meta.docids), len(features)))
    for j, feature in enumerate(features):
        s = streams.index(feature.stream)
        matches = meta.streams[s]
        unmatched: np.ndarray = np.zeros(len(meta.docids), np.bool_)
        if isinstance(feature, ModelFeature) and isinstance(feature.model, TermModel):
            values = feature.model.of_matches(matches)
            if isinstance(feature.model, (BM25, LanguageModel)):
                unmatched = matches.counts.reshape(len(meta.docids), -1).max(axis=1, initial=0) == 0
        elif isinstance(feature, QueryFeature):
            values = query_values(matches, feature.statistic)
        else:
            raise DataError(f"feature {feature.title!r} needs more than term statistics")
        column = TRANSFORMS[feature.transform](values)
        if missing == "min" and unmatched.any():
            language = isinstance(getattr(feature, "model", None), LanguageModel)
            fill = float(column[~unmatched].min(initial=np.inf)) if language else 0.0
            column[unmatched] = fill if np.isfinite(fill) else np.nan
        else:
            column[unmatched] = np.nan
        out[:, j] = np.where(meta.present[:, s], column, np.nan)
    return out
