"""Why-questions: passages ranked by whether they explain what a question asks about.

    python examples/recipes/why.py [JUDGED]

compares a ranker on these features with tf-idf, by cross-validation on a file of judged passages (question, passage and
label, separated by tabs); without a file, on a few questions.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from answers import read_answers
from language import Tagger, kinds, noun_phrases, sentences, words
from plackett import DataError, LogisticRegression
from plackett.applications import Application, CandidateLists
from synonyms import SynonymFeatures

_PARTS = ("words", "nouns", "verbs", "adjectives", "focus", "heads", "modifiers")
#: Verbs that may follow *why* and say nothing; *ca* and *wo* are left of *can't* and *won't*.
_AUXILIARY_WORDS = """do does did is are was were am has have had can could will would shall should may might must
    ca wo"""
_AUXILIARIES = frozenset(_AUXILIARY_WORDS.split())
_STRUCTURE = ("title", "heading", "first sentence")
_CUE_WORDS = """because since therefore thus hence reason reasons cause causes caused causing due result results explain
    explains explanation why consequently owing order so effect leads led purpose"""
_CUES = frozenset(_CUE_WORDS.split())


class Passage(NamedTuple):
    """A passage with the title and heading it stands under. A plain text is a passage without them."""

    text: str
    title: str = ""
    heading: str = ""


class _Read(NamedTuple):
    """A text as sets of terms."""

    tokens: list[str]
    parts: dict[str, frozenset[str]]


@dataclass(kw_only=True, eq=False)
class WhyFeatures(SynonymFeatures):
    """37 features of a why-question and a passage.

    ==========================  ======================================================================================
    ``tf-idf``                  cosine of question and passage
    ``P in passage``            share of a part P of the question that is among the words of the passage (7)
    ``P in same part``          share of it that is in the same part of the passage (7)
    ``P in passage, synonyms``  the same with the synonyms of the question's words (7)
    ``P in same part, …``       the same (7)
    ``cue words``               share of the passage's sentences with *because*, *therefore*, *reason*, …
    ``words/focus in S``        share of the question's words, and of its focus, in the title, the heading and the
                                first sentence (6)
    ``relatedness``             mean over the question's words of the greatest relatedness with a word of the passage
    ==========================  ======================================================================================

    The parts P are words, nouns, verbs, adjectives, the focus (the first noun phrase: what the question is about), the
    heads of the noun phrases and their modifiers. Kinds of words come from the rules of
    `language.py` unless a tagger is given. The synonyms replace WordNet, which is not included.

    Parameters
    ----------
    synonyms
        Other words for a word.
    relatedness
        Function of two terms, from 0 to 1; by default 1 for equal terms, ½ for synonyms, else 0. It is not saved, and
        neither is ``tagger``: give them again to features that are loaded.
    tagger
        From words to their kinds.
    analyzer
        How texts become terms.

    Examples
    --------
    >>> passages = ["Cats purr because they are content.", "Dogs bark."]
    >>> lists = CandidateLists.of([("Why do cats purr?", passages, [1, 0])])
    >>> data = WhyFeatures().fit(lists).transform(lists)
    >>> data.n_features, data.X[:, data.feature_names.index("focus in passage")].tolist()
    (37, [1.0, 0.0])

    References
    ----------
    Verberne, van Halteren, Theijssen, Raaijmakers, Boves: Learning to rank for why-question answering. Information
    Retrieval 14 (2011).
    """

    names: ClassVar[tuple[str, ...]] = (
        "tf-idf",
        *(
            f"{part} in {where}{extra}"
            for extra in ("", ", synonyms")
            for where in ("passage", "same part")
            for part in _PARTS
        ),
        "cue words",
        *(f"{part} in {where}" for where in _STRUCTURE for part in ("words", "focus")),
        "relatedness",
    )

    relatedness: Callable[[str, str], float] | None = field(default=None, repr=False)
    tagger: Tagger = field(default=kinds, repr=False)

    def fit(self, lists: CandidateLists) -> Self:
        """Count the terms of the passages."""
        return self.count(_passage(item).text for item in lists.items)

    def matrix(self, lists: CandidateLists) -> np.ndarray:
        """A row for each passage."""
        self.check_trained()
        near = self._near()
        texts: dict[str, _Read] = {}

        def read(text: str) -> _Read:
            return texts[text] if text in texts else texts.setdefault(text, self._read(text))

        rows = []
        for question, item in zip(lists.row_queries, lists.items, strict=True):
            asked, passage = self._read_question(question), _passage(item)
            rows.append(self._row(asked, passage, near, read))
        return np.array(rows, np.float64).reshape(len(rows), len(self.names))

    def _row(
        self, asked: _Read, passage: Passage, near: dict[str, set[str]], read: Callable[[str], _Read]
    ) -> list[float]:
        text = read(passage.text)
        everything = frozenset(text.tokens)
        row = [self._terms.tfidf(asked.tokens, text.tokens)]
        for wider in ({}, near):
            row += [_share(asked.parts[part], everything, wider) for part in _PARTS]
            row += [_share(asked.parts[part], text.parts[part], wider) for part in _PARTS]
        parts = sentences(passage.text)
        explaining = sum(not _CUES.isdisjoint(words(part.lower())) for part in parts)
        row.append(explaining / max(len(parts), 1))
        for where in (passage.title, passage.heading, parts[0] if parts else ""):
            field_terms = frozenset(read(where).tokens)
            row += [_share(asked.parts["words"], field_terms, {}), _share(asked.parts["focus"], field_terms, {})]
        row.append(self._related(asked.parts["words"], everything, near))
        return row

    def _related(self, asked: Iterable[str], passage_terms: frozenset[str], near: dict[str, set[str]]) -> float:
        values = []
        for word in asked:
            if word in passage_terms:
                values.append(1.0)
            elif self.relatedness is None:
                values.append(0.0 if passage_terms.isdisjoint(near.get(word, ())) else 0.5)
            else:
                values.append(max((float(self.relatedness(word, other)) for other in passage_terms), default=0.0))
        return float(np.mean(values)) if values else 0.0

    def _near(self) -> dict[str, set[str]]:
        """Synonyms as terms, in both directions."""
        near: dict[str, set[str]] = {}
        for word, others in self.synonyms.items():
            first = self.analyzer.tokens(word)
            for other in others:
                second = self.analyzer.tokens(other)
                if len(first) == len(second) == 1:
                    near.setdefault(first[0], set()).add(second[0])
                    near.setdefault(second[0], set()).add(first[0])
        return near

    def _read_question(self, question: str) -> _Read:
        if not isinstance(question, str):
            raise DataError(f"query {question!r:.60} is not a text")
        tokens = words(question)
        start = next((i + 1 for i, word in enumerate(tokens) if word.lower() == "why"), 0)
        if start and start < len(tokens) and _plain_verb(tokens[start]) in _AUXILIARIES:
            start += 1
        return self._read(" ".join(tokens[start:]))

    def _read(self, text: str) -> _Read:
        written = words(text)
        tags = list(self.tagger(written))
        terms = [self.analyzer.tokens(word) for word in written]
        phrases = noun_phrases(written, lambda _: tags)
        heads = {b - 1 for _, b in phrases}
        inside = {i for a, b in phrases for i in range(a, b)}

        def those(numbers: Iterable[int]) -> frozenset[str]:
            return frozenset(term for i in numbers for term in terms[i])

        everything = range(len(written))
        focus = range(*phrases[0]) if phrases else range(0)
        parts = {
            "words": those(everything),
            **{f"{kind}s": those(i for i in everything if tags[i] == kind) for kind in ("noun", "verb", "adjective")},
            "focus": those(focus),
            "heads": those(heads),
            "modifiers": those(inside - heads),
        }
        return _Read([term for own in terms for term in own], parts)


def _plain_verb(word: str) -> str:
    """A verb without the *n't* at its end."""
    return word.lower().replace("’", "'").removesuffix("n't")


def _passage(item: Any) -> Passage:
    if isinstance(item, str):
        return Passage(item)
    if not isinstance(item, list | tuple) or not 1 <= len(item) <= 3 or not all(isinstance(t, str) for t in item):
        raise DataError(f"{item!r:.60} is not a passage; give a text or a Passage")
    return Passage(*item)


def _share(asked: frozenset[str], text_terms: frozenset[str], near: dict[str, set[str]]) -> float:
    """Share of some terms that are in a text, themselves or as a synonym."""
    if not asked:
        return 0.0
    return sum(term in text_terms or not text_terms.isdisjoint(near.get(term, ())) for term in asked) / len(asked)


_SAMPLE = (
    ("Why do cats purr?", ["Cats purr because they are content.", "Cats are small.", "Dogs bark."], [1, 0, 0]),
    ("Why is the sea salty?", ["The sea is blue.", "Rivers bring salt, and therefore the sea is salty."], [0, 1]),
    ("Why do leaves fall?", ["Leaves fall in order to save water.", "Leaves are green."], [1, 0]),
    ("Why does iron rust?", ["Iron is a metal.", "Iron rusts as a result of air and water."], [0, 1]),
)


def main() -> None:
    """Compare a ranker on features of passages that may explain with tf-idf."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("judged", nargs="?", type=Path, help="lines of question, passage and label, separated by tabs")
    file = parser.parse_args().judged
    lists = read_answers(file).filtered() if file else CandidateLists.of(_SAMPLE)
    passages = Application(
        features=WhyFeatures(), ranker=LogisticRegression(), baselines=("tf-idf",), measures=("RR", "Success@10")
    )
    print(passages.cross_validate(lists, n_folds=min(5, len(lists))))


if __name__ == "__main__":
    main()
