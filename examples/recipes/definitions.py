"""Definition search: paragraphs that say what a term means, ranked by how well they do.

    python examples/recipes/definitions.py [TEXT]

prints the paragraphs of a text file that may define a term; without a file, of a few sentences.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from language import Tagger, kinds, noun_phrases, sentences, words
from plackett import DataError
from plackett.applications import CandidateLists, Features
from terms import TermStatistics

_ARTICLES = ("a", "an", "the")
_NEGATIVE = frozenset(("he", "she", "said"))
_PRONOUNS = frozenset(("i", "you", "he", "she", "it", "we", "they", "this", "that", "these", "those", "who", "which"))


class Definition(NamedTuple):
    """A paragraph that may define a term."""

    term: str
    paragraph: str


def find_definitions(paragraphs: Iterable[str], *, tagger: Tagger = kinds) -> list[Definition]:
    """Paragraphs that may define a term, with the term.

    The term is the first base noun phrase of the first sentence, or two of them joined by *of* or *for*. The paragraph
    is kept if it continues as definitions do: *term is a/an/the …*, *term, …, a/an/the …* or
    *term is one of …* (also *are* and *was*).

    Parameters
    ----------
    paragraphs
        The texts.
    tagger
        From words to their kinds; by default rules without data.

    Examples
    --------
    >>> find_definitions(["A whale is a sea mammal.", "He ran home.", "Bach, born in 1685, a composer of fugues."])
    ... # doctest: +NORMALIZE_WHITESPACE
    [Definition(term='whale', paragraph='A whale is a sea mammal.'),
     Definition(term='Bach', paragraph='Bach, born in 1685, a composer of fugues.')]
    """
    definitions = []
    for paragraph in paragraphs:
        term = _defined(paragraph, tagger)
        if term:
            definitions.append(Definition(term, paragraph))
    return definitions


def _defined(paragraph: str, tagger: Tagger) -> str:
    """The term that a paragraph may define; empty if none."""
    first = next(iter(sentences(paragraph)), "")
    tokens = words(re.split(r"[,;:(]", first, maxsplit=1)[0])
    phrases = noun_phrases(tokens, tagger)
    if not phrases or phrases[0][0] != 0:
        return ""
    _, end = phrases[0]
    if end < len(tokens) and tokens[end].lower() in ("of", "for"):
        end = next((b for a, b in phrases if a == end + 1), end)
    term = tokens[:end]
    match = re.match(r"\W*" + r"\W+".join(map(re.escape, term)), first)
    if match is None or not _CONTINUED.match(first[match.end() :]):
        return ""
    return " ".join(term[1:] if term[0].lower() in _ARTICLES and len(term) > 1 else term)


#: How a definition continues after its term.
_CONTINUED = re.compile(
    r"\s*(?:\([^)]*\)\s*)?(?:(?:is|are|was|were)\s+(?:an?|the|one\s+of)\b|,[^.]*,\s*(?:an?|the)\b|,\s*(?:an?|the)\b)",
    re.IGNORECASE,
)


@dataclass(kw_only=True, eq=False)
class DefinitionFeatures(Features):
    """Features of a term and a paragraph that may define it.

    ========================  ========================================================================================
    ``at start``              the paragraph begins with the term, after an article or not
    ``article``               an article precedes the term at the start
    ``capitals``              all words of the term begin with a capital in the paragraph
    ``negative words``        the paragraph has *he*, *she* or *said*
    ``pronoun``               the term has a pronoun
    ``joined``                the term has *of*, *for*, *and*, *or* or a comma
    ``again``                 how often the term is repeated
    ``is a``                  *is a*, *is an* or *is the* follows the term (also *are*, *was*)
    ``sentences``             number of sentences
    ``words``                 number of words
    ``adjectives``            number of adjectives
    ``words after: …``        share of the words after the term that are frequent in good and in poor definitions
    ``bm25``                  BM25 of the term in the paragraph, for comparison
    ========================  ========================================================================================

    The words of the twelfth group are the ``n_words`` most frequent in a window of ten words after the term, over all
    training paragraphs. What they are worth is learned from the labels as the log odds of the word in good definitions;
    the feature is their mean, which keeps the number of columns small. `fit_transform` computes it for each list from
    the other folds of lists.

    Parameters
    ----------
    n_words
        Frequent words of the window.
    tagger
        From words to their kinds. It is not saved: give it again to features that are loaded.

    Examples
    --------
    >>> lists = CandidateLists.of([("whale", ["A whale is a sea mammal.", "He saw a whale."], [1, 0])])
    >>> data = DefinitionFeatures().fit(lists).transform(lists)
    >>> data.X[:, data.feature_names.index("is a")].tolist()
    [1.0, 0.0]

    References
    ----------
    Xu, Cao, Li, Zhao: Ranking definitions with supervised learning methods. WWW 2005.
    """

    names: ClassVar[tuple[str, ...]] = (
        "at start",
        "article",
        "capitals",
        "negative words",
        "pronoun",
        "joined",
        "again",
        "is a",
        "sentences",
        "words",
        "adjectives",
        "words after",
        "bm25",
    )
    window: ClassVar[int] = 10

    n_words: int = 200
    tagger: Callable[..., Any] = field(default=kinds, repr=False)

    def fit(self, lists: CandidateLists) -> Self:
        """Count terms, and learn from the labels which words follow the term of a good definition."""
        if lists.labels is None:
            raise DataError("the lists have no labels; give judged ones")
        lists.check_texts()
        self._terms = TermStatistics().fit([word.lower() for word in words(text)] for text in lists.items)
        self._odds = self._learned(lists, np.ones(len(lists.items), bool))
        return self

    def fit_transform(self, lists: CandidateLists, *, n_folds: int = 5) -> Any:
        """`fit`, and the features of the training lists, with the words after a term judged by other lists."""
        data = self.fit(lists).transform(lists)
        fold = np.repeat(lists.folds(n_folds) if len(lists) > 1 else [0], np.diff(lists.offsets))
        X, column, all_odds = np.array(data.X), self.names.index("words after"), self._odds
        for held in np.unique(fold):
            self._odds = self._learned(lists, fold != held)
            queries = lists.row_queries
            for i in np.flatnonzero(fold == held).tolist():
                X[i, column] = self._after_term(queries[i], lists.items[i])
        self._odds = all_odds
        return data.replace(X=X)

    def _learned(self, lists: CandidateLists, rows: np.ndarray) -> dict[str, float]:
        """Log odds, with one added to each count, of the frequent words in the window."""
        good, poor = Counter[str](), Counter[str]()
        n = [1, 1]
        labels = np.asarray(lists.labels) > 0
        queries = lists.row_queries
        for i in np.flatnonzero(rows).tolist():
            after = set(self._window(queries[i], lists.items[i]))
            (good if labels[i] else poor).update(after)
            n[not labels[i]] += 1
        frequent = [word for word, _ in (good + poor).most_common(self.n_words)]
        return {w: float(np.log((good[w] + 1) / (n[0] + 1)) - np.log((poor[w] + 1) / (n[1] + 1))) for w in frequent}

    def _window(self, term: str, paragraph: str) -> list[str]:
        tokens, asked = [word.lower() for word in words(paragraph)], [word.lower() for word in words(term)]
        start = _first(asked, tokens)
        return tokens[start + len(asked) :][: self.window] if start >= 0 else []

    def _after_term(self, term: str, paragraph: str) -> float:
        known = [self._odds[word] for word in self._window(term, paragraph) if word in self._odds]
        return float(np.mean(known)) if known else 0.0

    def matrix(self, lists: CandidateLists) -> np.ndarray:
        """A row for each paragraph."""
        if not hasattr(self, "_terms"):
            raise DataError("the features are not trained; call fit first")
        lists.check_texts()
        rows = [self._row(term, text) for term, text in zip(lists.row_queries, lists.items, strict=True)]
        return np.array(rows, np.float64).reshape(len(rows), len(self.names))

    def _row(self, term: str, paragraph: str) -> list[float]:
        written, asked = words(paragraph), [word.lower() for word in words(term)]
        tokens = [word.lower() for word in written]
        start, n = _first(asked, tokens), len(asked)
        article = start == 1 and tokens[0] in _ARTICLES
        after = tokens[start + n : start + n + 2] if start >= 0 else []
        defines = after[:1] in (["is"], ["are"], ["was"], ["were"]) and after[1:] and after[1] in _ARTICLES
        capitals = start >= 0 and all(word[:1].isupper() for word in written[start : start + n])
        return [
            start == 0 or article,
            article,
            capitals,
            not _NEGATIVE.isdisjoint(tokens),
            not _PRONOUNS.isdisjoint(asked),
            "," in term or not {"of", "for", "and", "or"}.isdisjoint(asked),
            max(_count(asked, tokens) - 1, 0),
            bool(defines),
            len(sentences(paragraph)),
            len(tokens),
            sum(kind == "adjective" for kind in self.tagger(written)),
            self._after_term(term, paragraph),
            self._terms.bm25(asked, tokens),
        ]

    def state(self) -> dict[str, Any]:
        """Settings, counts and what the words are worth."""
        if not hasattr(self, "_terms"):
            raise DataError("the features are not trained; call fit first")
        return {"n_words": self.n_words, "odds": self._odds, **self._terms.state()}

    @classmethod
    def restore(cls, state: Mapping[str, Any]) -> Self:
        """Trained features from their state."""
        made = cls(n_words=int(state["n_words"]))
        made._terms = TermStatistics.restore(state)
        made._odds = {str(word): float(odds) for word, odds in state["odds"].items()}
        return made


def _first(part: list[str], whole: list[str]) -> int:
    """Where a run of words first occurs; −1 if it does not."""
    return next((i for i in range(len(whole) - len(part) + 1) if whole[i : i + len(part)] == part), -1) if part else -1


def _count(part: list[str], whole: list[str]) -> int:
    return sum(whole[i : i + len(part)] == part for i in range(len(whole) - len(part) + 1)) if part else 0


_SAMPLE = (
    "A whale is a sea mammal.",
    "He saw a whale.",
    "The theory of games is the study of strategy.",
    "Bach, born in 1685, a composer of fugues.",
)


def main() -> None:
    """Print the paragraphs that may define a term."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("text", nargs="?", type=Path, help="a file with an empty line between paragraphs")
    file = parser.parse_args().text
    for definition in find_definitions(re.split(r"\n\s*\n", file.read_text("utf-8")) if file else _SAMPLE):
        print(f"{definition.term}: {' '.join(definition.paragraph.split())}")


if __name__ == "__main__":
    main()
