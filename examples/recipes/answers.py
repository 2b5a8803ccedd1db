"""Answer ranking: features of a question and a candidate sentence, and files of judged candidates.

    python examples/recipes/answers.py [JUDGED]

compares a linear ranker on these features with the overlap of words, by cross-validation on a file of judged answers
(see `read_answers`); without a file, on a few questions.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path
from typing import Any, Self

import numpy as np

from plackett import DataError, GradientRanker, Linear, RankingDataset
from plackett.applications import Application, CandidateLists, Features
from plackett.text import Analyzer
from terms import TermStatistics
from translation import TranslationModel

_NAMES = (
    "overlap",
    "overlap share",
    "idf overlap",
    "idf overlap share",
    "bm25",
    "translation",
    "same order",
    "span",
    "new words",
    "length",
    "position",
    "number",
    "number asked",
)


def read_answers(path: str | os.PathLike[str]) -> CandidateLists:
    """Read tab-separated lines of question, answer and label, such as WikiQA's ``.txt`` files. Quotes are not special.

    Neighbouring lines with the same question are the candidates of one question.
    """
    questions, answers, labels = [], [], []
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            columns = line.rstrip("\r\n").split("\t")
            if len(columns) != 3:
                raise DataError(f"{path}, line {number}: {len(columns)} columns; expected question, answer, label")
            try:
                label = float(columns[2])
            except ValueError:
                raise DataError(f"{path}, line {number}: label {columns[2]!r} is not a number") from None
            questions.append(columns[0])
            answers.append(columns[1])
            labels.append(label)
    if not questions:
        raise DataError(f"{path} has no lines")
    rows = groupby(zip(questions, answers, labels, strict=True), lambda row: row[0])
    return CandidateLists.of((question, *list(zip(*group, strict=True))[1:]) for question, group in rows)


@dataclass(kw_only=True, eq=False)
class AnswerFeatures(Features):
    r"""Features of a question with a candidate answer, for any ranker.

    ========================  ======================================================================================
    ``overlap``               distinct words of the question in the answer
    ``overlap share``         the same, divided by the number of distinct words of the question
    ``idf overlap``           sum of the inverse document frequencies of these words
    ``idf overlap share``     the same, divided by the sum over the question
    ``bm25``                  BM25 with k₁ = 1.2 and b = .75 over the training answers
    ``translation``           log P(question | answer) per word by IBM model 1 (`TranslationModel`)
    ``same order``            longest run of the question's words that stand in the answer in the same order
    ``span``                  words of the answer from the first to the last word of the question
    ``new words``             distinct words of the answer that are not in the question
    ``length``                words of the answer
    ``position``              with ``position=True``: position of the answer among the candidates as given, from 0
    ``number``                whether the answer has a digit
    ``number asked``          the same if the question begins with when, or with how many or the like; otherwise 0
    ========================  ======================================================================================

    Words are the terms of the analyser. Document frequencies come from the training answers, and the translation model
    is trained on the right ones.

    Parameters
    ----------
    analyzer
        How texts become words.
    translation
        The translation model to train.
    position
        Also use the position of the answer among its candidates. Only for candidates whose order means something and is
        known when a new question is asked, such as the sentences of a page from its top: files of judged answers often
        list the right ones first, and a ranker then learns nothing but that.

    Examples
    --------
    >>> asked = CandidateLists.of([("who sings", ["Whales sing.", "Cows eat."], [1, 0])])
    >>> data = AnswerFeatures().fit(asked).transform(asked)
    >>> data.X[:, data.feature_names.index("overlap")].tolist()
    [1.0, 0.0]

    References
    ----------
    Surdeanu, Ciaramita, Zaragoza: Learning to rank answers on large online QA collections. ACL 2008.
    """

    analyzer: Analyzer = field(default_factory=Analyzer)
    translation: TranslationModel = field(default_factory=TranslationModel)
    position: bool = False

    @property
    def names(self) -> tuple[str, ...]:  # type: ignore[override]
        """Names of the columns."""
        return tuple(name for name in _NAMES if name != "position" or self.position)

    def fit(self, lists: CandidateLists) -> Self:
        """Count words in the answers, and train the translation model on those with a label above 0."""
        lists.check_texts()
        questions, answers = self._words(lists.row_queries), self._words(lists.items)
        right = self._right(lists)
        if not right.any():
            raise DataError("no answer is right: there is nothing to learn from")
        self._train(self.translation, questions, answers, right)
        self._terms = TermStatistics().fit(answers)
        return self

    def fit_transform(self, lists: CandidateLists, *, n_folds: int = 5) -> RankingDataset:
        """`fit`, and the features of the training data as a ranker should see them.

        A translation model has seen the answers it was trained on, and a ranker trained on its scores for them would
        trust it too much. The translation feature of each question therefore comes from a model trained on the other
        folds of questions; `transform` would use the one trained on all.
        """
        fold = np.repeat(lists.folds(n_folds), np.diff(lists.offsets))
        data = self.fit(lists).transform(lists)
        questions, answers, right = self._words(lists.row_queries), self._words(lists.items), self._right(lists)
        X = np.array(data.X)
        for held in np.unique(fold):
            rows, others = np.flatnonzero(fold == held), (fold != held) & right
            if not others.any():
                raise DataError("all right answers are in one fold of the questions; there are too few")
            model = self._train(replace(self.translation), questions, answers, others)
            scores = model.log_probability([questions[i] for i in rows], [answers[i] for i in rows])
            X[rows, self.names.index("translation")] = scores
        return replace(data, X=X)

    def matrix(self, lists: CandidateLists) -> np.ndarray:
        """A row for each candidate; a document's id is its position in the list, as in WikiQA's files of judgements."""
        if not hasattr(self, "_terms"):
            raise DataError("the features are not trained; call fit first")
        lists.check_texts()
        questions, answers = self._words(lists.row_queries), self._words(lists.items)
        rows = [self._row(q, a) for q, a in zip(questions, answers, strict=True)]
        table: dict[str, Any] = {name: np.array([row[name] for row in rows]) for name in self._row([], [])}
        table["translation"] = self.translation.log_probability(questions, answers)
        table["position"] = lists.positions
        table["number"] = np.array([any(c.isdigit() for c in text) for text in lists.items], float)
        table["number asked"] = table["number"] * [_asks_number(text) for text in lists.row_queries]
        return np.column_stack([table[name] for name in self.names])

    def state(self) -> dict[str, Any]:
        """Settings, document frequencies and the translation table."""
        if not hasattr(self, "_terms"):
            raise DataError("the features are not trained; call fit first")
        return {
            "analyzer": self.analyzer.to_json(),
            "position": self.position,
            **self._terms.state(),
            **{f"translation {name}": value for name, value in self.translation.state().items()},
        }

    @classmethod
    def restore(cls, state: Mapping[str, Any]) -> Self:
        """Trained features from their state."""
        own = {name.removeprefix("translation "): v for name, v in state.items() if name.startswith("translation ")}
        made = cls(
            analyzer=Analyzer.from_json(state["analyzer"]),
            translation=TranslationModel.restore(own),
            position=bool(state["position"]),
        )
        made._terms = TermStatistics.restore(state)
        return made

    @staticmethod
    def _right(lists: CandidateLists) -> np.ndarray:
        if lists.labels is None:
            raise DataError("the lists have no labels; give judged ones")
        return lists.labels > 0

    @staticmethod
    def _train(model: TranslationModel, questions: Any, answers: Any, rows: np.ndarray) -> TranslationModel:
        chosen = np.flatnonzero(rows)
        return model.fit([questions[i] for i in chosen], [answers[i] for i in chosen])

    def _words(self, texts: Iterable[str]) -> list[list[str]]:
        known: dict[str, list[str]] = {}
        return [known[text] if text in known else known.setdefault(text, self.analyzer.tokens(text)) for text in texts]

    def _row(self, question: Sequence[str], answer: Sequence[str]) -> dict[str, float]:
        asked, answer_words = dict.fromkeys(question), set(answer)
        common = [word for word in asked if word in answer_words]
        weight = {word: self._terms.idf(word) for word in asked}
        positions = [i for i, word in enumerate(answer) if word in asked]
        shared, whole = sum(weight[word] for word in common), sum(weight.values())
        return {
            "overlap": len(common),
            "overlap share": len(common) / max(len(asked), 1),
            "idf overlap": shared,
            "idf overlap share": shared / whole if whole else 0.0,
            "bm25": self._terms.bm25(asked, answer),
            "same order": same_order(list(asked), answer),
            "span": positions[-1] - positions[0] + 1 if positions else 0,
            "new words": len(answer_words - asked.keys()),
            "length": len(answer),
        }


def same_order(question: Sequence[str], answer: Sequence[str]) -> int:
    """Length of the longest common subsequence."""
    best = [0] * (len(question) + 1)
    for word in answer:
        before = 0
        for i, asked in enumerate(question, 1):
            before, best[i] = best[i], before + 1 if word == asked else max(best[i], best[i - 1])
    return best[-1]


def _asks_number(question: str) -> bool:
    """Whether a question wants a number or a date."""
    tokens = question.lower().split()[:2]
    counted = ("many", "much", "old", "long", "tall", "big", "far", "large", "high")
    return tokens[:1] == ["when"] or (tokens[:1] == ["how"] and tokens[1:] in [[word] for word in counted])


_SAMPLE = (
    ("how do whales breathe", ["Whales breathe air through a blowhole.", "Whales are large."], [1, 0]),
    ("when was the telephone invented", ["A telephone rings.", "Bell invented it in 1876."], [0, 1]),
    ("who wrote the opera", ["An opera is sung.", "Verdi wrote the opera."], [0, 1]),
    ("what do cows eat", ["Cows eat grass.", "Milk is white."], [1, 0]),
    ("where do penguins live", ["A penguin is a bird.", "Penguins live in the south."], [0, 1]),
)


def main() -> None:
    """Compare a ranker on features of answers with the overlap of words."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("judged", nargs="?", type=Path, help="lines of question, answer and label, separated by tabs")
    file = parser.parse_args().judged
    ranker = GradientRanker(loss="QuerySoftmax", model=Linear(alpha=1e-2))
    answers = Application(features=AnswerFeatures(), ranker=ranker, baselines=("overlap",), measures=("AP", "RR"))
    print(answers.cross_validate(read_answers(file).filtered() if file else CandidateLists.of(_SAMPLE)))


if __name__ == "__main__":
    main()
