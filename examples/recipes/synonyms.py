"""What the features of texts with synonyms share: settings, counts of terms, and their state on disk."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from plackett import DataError
from plackett.applications import Features
from plackett.text import Analyzer
from terms import TermStatistics


@dataclass(kw_only=True, eq=False)
class SynonymFeatures(Features):
    """Base class of features that count terms and know other words for them."""

    synonyms: Mapping[str, list[str]] = field(default_factory=dict)
    analyzer: Analyzer = field(default_factory=Analyzer)

    def count(self, texts: Iterable[str]) -> Self:
        """Count the terms of the training texts."""
        self._terms = TermStatistics().fit(self.analyzer.tokens(text) for text in texts)
        return self

    def check_trained(self) -> None:
        """Raise `DataError` before `fit`."""
        if not hasattr(self, "_terms"):
            raise DataError("the features are not trained; call fit first")

    def state(self) -> dict[str, Any]:
        """Settings and counts."""
        self.check_trained()
        synonyms = {str(word): list(others) for word, others in self.synonyms.items()}
        return {"analyzer": self.analyzer.to_json(), "synonyms": synonyms, **self._terms.state()}

    @classmethod
    def restore(cls, state: Mapping[str, Any]) -> Self:
        """Trained features from their state."""
        made = cls(synonyms=state["synonyms"], analyzer=Analyzer.from_json(state["analyzer"]))
        made._terms = TermStatistics.restore(state)
        return made
