"""IBM model 1: which words of an answer go with which words of a question.

    python examples/recipes/translation.py [PAIRS]

prints which words of questions go with the most frequent words of answers, learned from a file of pairs (question and
answer, separated by a tab); without a file, from a few pairs.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numba import njit

from plackett import DataError
from plackett.text import Analyzer


@njit(error_model="numpy", nogil=True)
def _em_step(question_offsets, answer_offsets, cells, table, counts):
    """Expected counts of each cell of the table, and the log-likelihood of all questions."""
    total = 0.0
    at = 0
    for d in range(question_offsets.size - 1):
        n_answer = answer_offsets[d + 1] - answer_offsets[d]
        for _ in range(question_offsets[d + 1] - question_offsets[d]):
            share = 0.0
            for j in range(n_answer):
                share += table[cells[at + j]]
            for j in range(n_answer):
                counts[cells[at + j]] += table[cells[at + j]] / share
            total += np.log(share / n_answer)
            at += n_answer
    return total


@njit(error_model="numpy", nogil=True)
def _log_probabilities(
    question_offsets, question, answer_offsets, answer, first, target, table, background, smoothing, floor, out
):
    """Mean log-probability of the words of each question, given its answer."""
    for d in range(question_offsets.size - 1):
        lo, hi = answer_offsets[d], answer_offsets[d + 1]
        total = 0.0
        for i in range(question_offsets[d], question_offsets[d + 1]):
            word = question[i]
            share = 0.0
            for j in range(lo, hi):
                source = answer[j]
                chance = 0.0
                if source >= 0 and word >= 0:
                    begin, end = first[source], first[source + 1]
                    at = begin + np.searchsorted(target[begin:end], word)
                    if at < end and target[at] == word:
                        chance = table[at]
                if floor > 0.0:
                    chance *= 1.0 - floor
                    if source == word:
                        chance += floor
                share += chance
            if hi > lo:
                share /= hi - lo
            total += np.log((1.0 - smoothing) * share + smoothing * background[word])
        n = question_offsets[d + 1] - question_offsets[d]
        out[d] = total / n if n > 0 else 0.0


@dataclass(kw_only=True, eq=False)
class TranslationModel:
    r"""IBM model 1 from answers to questions, and the probability of a question given an answer.

    .. math::

        P(Q \mid A) = \prod_{q \in Q} \Big[(1 - \lambda) \sum_{a \in A} t(q \mid a) \frac{1}{|A|}
        + \lambda P(q \mid C)\Big]

    The table t is estimated by EM from pairs of questions and answers: a word q of the question goes back to the word a
    of the answer with probability :math:`t(q \mid a) / \sum_{a'} t(q \mid a')`. It starts uniform over the words that
    occur together, and the likelihood of the training questions never falls. There is no empty word.

    Parameters
    ----------
    n_iterations
        Passes of EM. Five are usual; more passes overfit rare words.
    smoothing
        λ, the weight of the frequency of the word in all training questions and answers (one is added to each count).
    self_translation
        Share of each word's translations that is kept for the word itself when questions are scored: with few pairs a
        model hardly learns that words translate to themselves.

    Attributes
    ----------
    log_likelihoods_
        Log-likelihood of the training questions before each pass, and after the last one; without smoothing.
    n_words_
        Size of the vocabulary.

    Examples
    --------
    >>> model = TranslationModel(n_iterations=5).fit([["x", "y"], ["x"]], [["a", "b"], ["a"]])
    >>> round(model.probability("x", "a"), 4), round(model.probability("y", "b"), 4)
    (0.9552, 0.827)

    References
    ----------
    Brown, Della Pietra, Della Pietra, Mercer: The mathematics of statistical machine translation. 1993.
    Surdeanu, Ciaramita, Zaragoza: Learning to rank answers on large online QA collections. ACL 2008.
    """

    n_iterations: int = 5
    smoothing: float = 0.2
    self_translation: float = 0.5

    def fit(self, questions: Iterable[Sequence[str]], answers: Iterable[Sequence[str]]) -> Self:
        """Estimate the table from pairs; each question and answer is a sequence of words."""
        if self.n_iterations < 0:
            raise DataError(f"n_iterations={self.n_iterations}; give 0 or more")
        if not 0 < self.smoothing <= 1 or not 0 <= self.self_translation <= 1:
            raise DataError(
                f"smoothing={self.smoothing}, self_translation={self.self_translation}; give shares up to 1, "
                "and a smoothing above 0"
            )
        asked, answered = _pairs(questions, answers)
        tokens = sorted({word for text in (*asked, *answered) for word in text})
        if not tokens:
            raise DataError("there are no words to learn from")
        self._number = {word: i for i, word in enumerate(tokens)}
        self.n_words_ = len(tokens)
        question_offsets, question = self._codes(asked)
        answer_offsets, answer = self._codes(answered)
        counts = np.bincount(np.concatenate([question, answer]), minlength=self.n_words_) + 1.0
        #: the last entry is the share of an unknown word, which has number −1
        self._background = np.append(counts, 1.0) / (counts.sum() + 1.0)
        usable = np.diff(answer_offsets) > 0
        lengths = np.diff(question_offsets) * usable
        per_word = np.repeat(np.diff(answer_offsets), np.diff(question_offsets))
        source = np.concatenate(
            [np.tile(answer[a:b], n) for a, b, n in zip(answer_offsets[:-1], answer_offsets[1:], lengths, strict=True)]
            or [np.empty(0, np.int64)]
        )
        keys, cells = np.unique(source * self.n_words_ + np.repeat(question, per_word), return_inverse=True)
        sources, self._target = np.divmod(keys, self.n_words_)
        self._first = np.searchsorted(sources, np.arange(self.n_words_ + 1))
        self._table = 1.0 / np.diff(self._first)[sources]
        kept = np.flatnonzero(usable)
        question_ends = np.concatenate([[0], np.cumsum(np.diff(question_offsets)[kept])])
        answer_ends = np.concatenate([[0], np.cumsum(np.diff(answer_offsets)[kept])])
        self.log_likelihoods_: list[float] = []
        for step in range(self.n_iterations + 1):
            expected = np.zeros(keys.size)
            self.log_likelihoods_.append(_em_step(question_ends, answer_ends, cells, self._table, expected))
            if step < self.n_iterations:
                self._table = expected / np.bincount(sources, expected, minlength=self.n_words_)[sources]
        return self

    def probability(self, question_word: str, answer_word: str) -> float:
        """t(question word | answer word); 0 for words that never occurred together."""
        self.check_fitted()
        word, source = self._number.get(question_word, -1), self._number.get(answer_word, -1)
        if word < 0 or source < 0:
            return 0.0
        begin, end = self._first[source], self._first[source + 1]
        at = begin + np.searchsorted(self._target[begin:end], word)
        return float(self._table[at]) if at < end and self._target[at] == word else 0.0

    def translations(self, answer_word: str, k: int = 10) -> list[tuple[str, float]]:
        """The words of questions that most probably go with a word of an answer."""
        self.check_fitted()
        source = self._number.get(answer_word)
        if source is None:
            return []
        part = slice(self._first[source], self._first[source + 1])
        order = np.argsort(-self._table[part], kind="stable")[:k]
        tokens = list(self._number)
        return [(tokens[self._target[part][i]], float(self._table[part][i])) for i in order]

    def log_probability(self, questions: Iterable[Sequence[str]], answers: Iterable[Sequence[str]]) -> np.ndarray:
        """Log P(Q | A) divided by the number of words of Q, for each pair; 0 for a question without words.

        The division changes no ranking, because it is the same for all answers to a question, and makes the numbers of
        short and long questions comparable.
        """
        self.check_fitted()
        asked, answered = _pairs(questions, answers)
        unknown = {word for text in asked for word in text if word not in self._number}
        #: unknown words get numbers below 0 of their own, so that the self-translation finds them
        extra = {word: -1 - i for i, word in enumerate(sorted(unknown))}
        question_offsets, question = self._codes(asked, extra)
        answer_offsets, answer = self._codes(answered, extra, other=-1 - len(extra))
        background = np.concatenate([self._background[:-1], np.full(len(extra) + 1, self._background[-1])])
        out = np.empty(len(asked))
        _log_probabilities(
            question_offsets,
            question,
            answer_offsets,
            answer,
            self._first,
            self._target,
            self._table,
            background,
            self.smoothing,
            self.self_translation,
            out,
        )
        return out

    def state(self) -> dict[str, Any]:
        """Parameters and table, by name: arrays of numbers, and values that JSON has."""
        self.check_fitted()
        return {
            "parameters": [self.n_iterations, self.smoothing, self.self_translation],
            "words": list(self._number),
            "background": self._background,
            "first": self._first,
            "target": self._target,
            "table": self._table,
            "log_likelihoods": self.log_likelihoods_,
        }

    @classmethod
    def restore(cls, state: Mapping[str, Any]) -> Self:
        """A trained model from its state."""
        n_iterations, smoothing, self_translation = state["parameters"]
        made = cls(n_iterations=int(n_iterations), smoothing=float(smoothing), self_translation=float(self_translation))
        made._number = {str(word): i for i, word in enumerate(state["words"])}
        made.n_words_ = n = len(made._number)
        made._background, made._table = (np.array(state[name], np.float64) for name in ("background", "table"))
        made._first, made._target = (np.array(state[name], np.int64) for name in ("first", "target"))
        made.log_likelihoods_ = [float(value) for value in state["log_likelihoods"]]
        if made._background.shape != (n + 1,) or made._target.shape != made._table.shape:
            raise DataError("the translation table is damaged: its parts do not fit together")
        inside = made._target.size == 0 or 0 <= made._target.min() <= made._target.max() < n
        first = made._first
        runs = (
            first.shape == (n + 1,) and first[0] == 0 and first[-1] == made._target.size and (np.diff(first) >= 0).all()
        )
        if not runs or not inside:
            raise DataError("the translation table is damaged: it refers to words that it does not have")
        return made

    def _codes(
        self, texts: list[Sequence[str]], extra: dict[str, int] | None = None, other: int = -1
    ) -> tuple[np.ndarray, np.ndarray]:
        """Offsets of texts and the numbers of their words."""
        number = self._number if not extra else self._number | extra
        offsets = np.concatenate([[0], np.cumsum([len(text) for text in texts], dtype=np.int64)]).astype(np.int64)
        return offsets, np.fromiter((number.get(w, other) for text in texts for w in text), np.int64, int(offsets[-1]))

    def check_fitted(self) -> None:
        """Raise an error if it is not fitted yet."""
        if not hasattr(self, "_table"):
            raise DataError("the translation model is not trained; call fit first")


def _pairs(
    questions: Iterable[Sequence[str]], answers: Iterable[Sequence[str]]
) -> tuple[list[Sequence[str]], list[Sequence[str]]]:
    asked, answered = list(questions), list(answers)
    if len(asked) != len(answered):
        raise DataError(f"{len(asked)} questions, but {len(answered)} answers; give one answer for each question")
    if any(isinstance(text, str) for text in (*asked[:1], *answered[:1])):
        raise DataError(
            "questions and answers are sequences of words; split the texts first, for example with Analyzer().tokens"
        )
    return asked, answered


_SAMPLE = (
    "how to fry eggs\tput the eggs into hot butter",
    "how to boil eggs\tput the eggs into hot water",
    "how to boil rice\trice needs twice its volume of water",
)


def main() -> None:
    """Print which words of questions go with the most frequent words of answers."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("pairs", nargs="?", type=Path, help="lines of question and answer, separated by a tab")
    file = parser.parse_args().pairs
    pairs = [line.split("\t")[:2] for line in (file.read_text("utf-8").splitlines() if file else _SAMPLE)]
    questions, answers = ([Analyzer().tokens(text) for text in side] for side in zip(*pairs, strict=True))
    model = TranslationModel().fit(questions, answers)
    for word, _ in Counter(word for answer in answers for word in answer).most_common(10):
        print(f"{word}: " + ", ".join(f"{other} {p:.2f}" for other, p in model.translations(word)[:3]))


if __name__ == "__main__":
    main()
