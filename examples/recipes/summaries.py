"""Summaries: the sentences of a document that speak to a query, chosen by a ranker.

    python examples/recipes/summaries.py [JUDGED TEXT QUERY]

prints the three best sentences of a text file for a query, by a ranker that is trained on judged sentences (query,
sentence and label, separated by tabs); without arguments, on made-up texts.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Self

import numpy as np

from answers import read_answers
from language import sentences
from plackett import DataError, ListNet
from plackett.applications import Application, CandidateLists
from synonyms import SynonymFeatures


@dataclass(kw_only=True, eq=False)
class SentenceFeatures(SynonymFeatures):
    """Features of a query and the sentences of a document, for query-biased summaries.

    ====================  ============================================================================================
    ``exact match``       whether the whole query occurs in the sentence, its terms one after the other
    ``query terms``       share of the query's distinct terms in the sentence
    ``synonyms``          share of the query's terms with a synonym in the sentence
    ``language model``    mean log probability of the query's terms in the sentence, smoothed (Dirichlet, μ = 50)
    ``terms``             number of terms of the sentence
    ``position``          position of the sentence in the document, from 0 (first) to 1 (last)
    ``similarity``        cosine of the sentence with the whole document: how central it is, whatever the query
    ====================  ============================================================================================

    With an empty query the first four are 0, and the summary is that of the document alone.

    Parameters
    ----------
    synonyms
        Other terms for a term, after analysis.
    analyzer
        How texts become terms.

    Examples
    --------
    >>> document = ["A dog barks.", "Cats chase mice at night.", "The end."]
    >>> features = SentenceFeatures().fit(CandidateLists.of([("", document)]))
    >>> features.transform(CandidateLists.of([("chase mice", document)])).X[:, :2].tolist()
    [[0.0, 0.0], [1.0, 1.0], [0.0, 0.0]]

    References
    ----------
    Metzler, Kanungo: Machine learned sentence selection strategies for query-biased summarization. SIGIR workshop on
    learning to rank for information retrieval, 2008.
    """

    names: ClassVar[tuple[str, ...]] = (
        "exact match",
        "query terms",
        "synonyms",
        "language model",
        "terms",
        "position",
        "similarity",
    )

    def fit(self, lists: CandidateLists) -> Self:
        """Count the terms of the sentences."""
        lists.check_texts()
        return self.count(lists.items)

    def matrix(self, lists: CandidateLists) -> np.ndarray:
        """A row for each sentence."""
        self.check_trained()
        lists.check_texts()
        rows = []
        bounds = lists.offsets.tolist()
        for number, query in enumerate(lists.queries):
            asked = self.analyzer.tokens(query)
            texts = [self.analyzer.tokens(text) for text in lists.items[bounds[number] : bounds[number + 1]]]
            document = [term for text in texts for term in text]
            for position, text in enumerate(texts):
                relative = position / max(len(texts) - 1, 1)
                rows.append([*self._match(asked, text), len(text), relative, self._terms.tfidf(text, document)])
        return np.array(rows, np.float64).reshape(len(rows), len(self.names))

    def _match(self, query: list[str], text: list[str]) -> tuple[float, float, float, float]:
        if not query:
            return 0.0, 0.0, 0.0, 0.0
        sentence_terms, distinct = set(text), set(query)
        exact = any(text[i : i + len(query)] == query for i in range(len(text) - len(query) + 1))
        near = sum(not sentence_terms.isdisjoint(self.synonyms.get(term, ())) for term in distinct)
        share = len(distinct & sentence_terms) / len(distinct)
        return float(exact), share, near / len(distinct), self._terms.log_probability(query, text)


def summarise(
    application: Application, query: str, document: str, *, n_sentences: int | None = 3, n_words: int | None = None
) -> list[str]:
    """The best sentences of a document for a query, in the order of the document, within a budget.

    Sentences are taken by score as long as they fit; one that is too long is skipped.

    Parameters
    ----------
    application
        A fitted application with `SentenceFeatures`.
    query
        May be empty.
    document
        The text; `sentences` splits it.
    n_sentences, n_words
        Maximum number of sentences, and of words in total; None for no limit.
    """
    for name, limit in (("n_sentences", n_sentences), ("n_words", n_words)):
        if limit is not None and limit < 1:
            raise DataError(f"{name}={limit}; give at least 1, or None")
    chosen: list[tuple[int, str]] = []
    left = n_words
    for ranked in application.rank(query, sentences(document)):
        if n_sentences is not None and len(chosen) == n_sentences:
            break
        length = len(ranked.item.split())
        if left is None or length <= left:
            chosen.append((ranked.position, ranked.item))
            left = None if left is None else left - length
    return [text for _, text in sorted(chosen)]


def _made_up(n_texts: int = 40) -> CandidateLists:
    """Texts of random words, with two neighbouring words of one sentence as the query."""
    rng = np.random.default_rng(0)
    lists = []
    for _ in range(n_texts):
        texts = [" ".join(f"word{i}" for i in rng.integers(0, 50, 6)) for _ in range(5)]
        right = int(rng.integers(5))
        lists.append((" ".join(texts[right].split()[2:4]), texts, [i == right for i in range(5)]))
    return CandidateLists.of(lists)


def main() -> None:
    """Print the best sentences of a text for a query."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("judged", nargs="?", type=Path, help="lines of query, sentence and label, separated by tabs")
    parser.add_argument("text", nargs="?", type=Path, help="the text to summarise")
    parser.add_argument("query", nargs="?", default="", help="what the summary should speak to; may be empty")
    given = parser.parse_args()
    text = "Word1 word2 word3. Word4 word5 word6. Word7 word8 word9. Word10 word11."
    query = given.query or ("" if given.text else "word8 word9")
    application = Application(features=SentenceFeatures(), ranker=ListNet(alpha=0.01))
    application.fit(read_answers(given.judged).filtered() if given.judged else _made_up())
    print(*summarise(application, query, given.text.read_text("utf-8") if given.text else text), sep="\n")


if __name__ == "__main__":
    main()
