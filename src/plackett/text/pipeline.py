"""Retrieval, features and ranking as one object."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from plackett._base.arguments import whole
from plackett._base.errors import DataError, in_shell
from plackett._files.atomic import replacing
from plackett._files.description import read_description, write_description
from plackett.data.dataset import RankingDataset
from plackett.text.index.index import Index
from plackett.text.search.query import Clauses, condition_mask, parse
from plackett.text.search.searching import Hit, best_documents

__all__ = ["SearchPipeline"]

FILE = "pipeline.json"
_VERSION = 1
#: Names that a file of declarations may have.
_FEATURES = ("features.json", "features.yaml")


@dataclass(frozen=True, repr=False)
class RankedHit(Hit):
    """A document that was retrieved and then reranked."""

    #: Score of the retrieval model.
    retrieval_score: float = 0.0
    #: Features by name; none without a ranker.
    features: Mapping[str, float] = field(default_factory=dict)


class SearchPipeline:
    """A search engine in one object: retrieve candidates, compute their features, rank them.

    Parameters
    ----------
    index
        The index.
    ranker
        A fitted ranker; without one the order of the retrieval model is kept.
    features
        The features that the ranker was trained on: a file of declarations or a list of them (see the guide to
        features), or an object with ``names`` and ``matrix(index, queries, offsets, documents)`` such as
        `plackett.text.FeatureSet`. A pipeline of declarations can be saved.
    model
        Retrieval model of the candidates; by default BM25, which understands the query language of `plackett.search`.
    candidates
        Number of documents that a ranker ranks, and the most that a search with a ranker returns. It does not depend
        on ``k``: the first ten documents are the same for ``k=10`` and ``k=100``.

    Examples
    --------
    >>> from plackett.text import Document, Index, SearchPipeline
    >>> index = Index.build([Document("a", {"body": "blue whales"}), Document("b", {"body": "a blue sky"})])
    >>> SearchPipeline(index).search("whale", k=1)
    [Hit('a', 0.6931)]
    """

    def __init__(
        self, index: Index, ranker: Any = None, features: Any = None, *, model: Any = None, candidates: int = 100
    ) -> None:
        whole("candidates", candidates, least=1)
        if (ranker is None) != (features is None):
            raise DataError("a ranker needs the features that it was trained on, and features need a ranker")
        self.index = index
        self.ranker = ranker
        self.model = model
        self.candidates = candidates
        self._declarations = None if hasattr(features, "matrix") else features
        self.features = features if self._declarations is None else _feature_set(features)

    def __repr__(self) -> str:
        ranker = "no ranker" if self.ranker is None else type(self.ranker).__name__
        return f"SearchPipeline({self.index!r}, {self.candidates} candidates, {ranker})"

    def search(
        self,
        query: str,
        k: int = 10,
        *,
        field: str | None = None,
        plain: bool = False,
        filters: str | None = None,
        qid: str | None = None,
    ) -> list[RankedHit]:
        """The k best documents for a query; with a ranker at most as many as there are candidates.

        Features and retrieval models other than BM25 see only the words of the query, without operators, conditions
        and excluded parts. Conditions select documents, whatever the model.

        Parameters
        ----------
        field, plain, filters
            See `plackett.search`.
        qid
            Id of the query, for features that are looked up by it (`TableFeature`, `EmbeddingFeature`).
        """
        by_query = (
            [] if self.features is None else [f.title for f in getattr(self.features, "features", ()) if f.by_query]
        )
        if by_query and qid is None:
            option = "--qid ID" if in_shell() else "qid=…"
            raise DataError(f"feature {by_query[0]!r} is looked up by the id of the query; give it: {option}")
        parsed = None if plain else parse(query, self.index, field)
        text = query if parsed is None else " ".join(parsed.texts())
        documents, scores, terms = self._retrieve(query, text, parsed, k, field, filters)
        ranked, rows = scores, None
        if self.ranker is not None and documents.size:
            queries = [text] if qid is None else {qid: text}
            rows = self.features.matrix(self.index, queries, [0, documents.size], documents)
            # a dataset has names: the ranker finds its features by them
            data = RankingDataset.from_arrays(rows, None, feature_names=self.features.names)
            ranked = np.asarray(self.ranker.predict(data))
        order = np.lexsort((np.arange(documents.size), -ranked))[:k]
        names = [] if rows is None else self.features.names
        return [
            RankedHit(
                self.index.id(int(documents[i])),
                float(ranked[i]),
                int(documents[i]),
                self.index,
                terms,
                retrieval_score=float(scores[i]),
                features={} if rows is None else dict(zip(names, rows[i].tolist(), strict=True)),
            )
            for i in order.tolist()
        ]

    def table(self, hits: Sequence[RankedHit]) -> RankingDataset:
        """The features of documents that `search` found, as the ranker sees them: one query, ids as documents."""
        if self.ranker is None or not hits:
            raise DataError("there are no features: the pipeline has no ranker, or nothing was found")
        names = [str(name) for name in getattr(self.ranker, "feature_names_in_", hits[0].features)]
        rows = np.array([[hit.features[name] for name in names] for hit in hits], np.float32)
        return RankingDataset.from_arrays(
            rows, np.zeros(len(hits)), ["q"] * len(hits), docids=[hit.id for hit in hits], feature_names=names
        )

    def _retrieve(
        self, query: str, text: str, parsed: Clauses | None, k: int, field: str | None, filters: str | None
    ) -> tuple[np.ndarray, np.ndarray, Any]:
        n = k if self.ranker is None else self.candidates
        if self.model is None:
            return best_documents(self.index, query, n, field=field, plain=parsed is None, filters=filters)
        allowed = None if parsed is None or parsed.plain else parsed.mask(self.index)
        if filters:
            mask = condition_mask(filters, self.index, field)
            allowed = mask if allowed is None else allowed & mask
        results = self.model.search(self.index, [text], n if allowed is None else self.index.n_documents, field=field)
        documents, scores = np.asarray(results.documents), np.asarray(results.scores)
        if allowed is not None:
            keep = np.flatnonzero(allowed[documents])[:n]
            documents, scores = documents[keep], scores[keep]
        name = field or self.index.default_field
        return documents, scores, {name: dict.fromkeys(self.index.analyzer.tokens(text), 1)}

    # ------------------------------------------------------------------------------------------------------- folders

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save index, features, ranker and settings as one new folder."""
        folder = Path(path)
        if folder.exists() and any(folder.iterdir()):
            raise DataError(f"{folder}: the folder is not empty; use a new one")
        if self.features is not None and self._declarations is None:
            raise DataError(
                "features made in Python cannot be saved; give the pipeline declarations: a list of mappings"
            )
        folder.mkdir(parents=True, exist_ok=True)
        self.index.save(folder / "index")
        if self.ranker is not None:
            self.ranker.save(folder / "ranker.plackett")
        settings = {
            "candidates": self.candidates,
            "model": None if self.model is None else _declared(self.model),
            "features": None if self._declarations is None else _save_declarations(self._declarations, folder),
        }
        write_description(folder / FILE, "pipeline", _VERSION, settings)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> SearchPipeline:
        """Load a folder that `save` wrote. Nothing in it is run as code."""
        folder = Path(path)
        settings = read_description(folder / FILE, "pipeline", _VERSION)
        candidates, model, features = settings.get("candidates"), settings.get("model"), settings.get("features")
        if type(candidates) is not int or features not in (None, *_FEATURES):
            raise DataError(f"{folder / FILE}: damaged (candidates {candidates!r:.40}, features {features!r:.40})")
        from plackett.rankers.storage import load

        ranker = load(folder / "ranker.plackett") if features is not None else None
        return cls(
            Index.open(folder / "index"),
            ranker,
            None if features is None else folder / features,
            model=None if model is None else _model(model, folder / FILE),
            candidates=candidates,
        )


def _feature_set(declarations: Any) -> Any:
    from plackett.text.features.feature_set import FeatureSet

    return FeatureSet.read(declarations) if isinstance(declarations, (str, os.PathLike)) else FeatureSet(declarations)


def _save_declarations(declarations: Any, folder: Path) -> str:
    """Write declarations, with copies of the tables that they name; return the name of the file."""
    if isinstance(declarations, (str, os.PathLike)):
        from plackett.text.features.declaration import declarations_of_file

        declarations = declarations_of_file(declarations)
    entries = []
    for number, entry in enumerate(declarations):
        if isinstance(entry, Mapping) and isinstance(entry.get("table"), (str, os.PathLike)):
            source = Path(entry["table"])
            entry = {**entry, "table": f"table-{number + 1}{source.suffix}"}
            shutil.copyfile(source, folder / entry["table"])
        entries.append(entry)
    try:
        content = json.dumps(entries, ensure_ascii=False, indent=1).encode()
    except TypeError as error:
        raise DataError(f"features cannot be saved: {error}; give a list of mappings, or a file") from None
    with replacing(folder / "features.json") as file:
        file.write(content)
    return "features.json"


def _declared(model: Any) -> dict[str, Any]:
    """A model by its name and parameters."""
    from plackett.text.features.declaration import declaration_of

    declaration = declaration_of(model)
    return {"name": declaration.pop("model"), "parameters": declaration}


def _model(declaration: Any, path: Path) -> Any:
    if (
        not isinstance(declaration, dict)
        or set(declaration) != {"name", "parameters"}
        or not isinstance(declaration["parameters"], dict)
    ):
        raise DataError(f"{path}: damaged (the model is {declaration!r:.60})")
    from plackett.text.features.declaration import model_of

    return model_of(declaration["name"], declaration["parameters"])
