from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from plackett._base.errors import DataError
from translation import TranslationModel

QUESTIONS, ANSWERS = [["x", "y"], ["x"]], [["a", "b"], ["a"]]


def _brute_force(questions, answers, n_iterations):
    """EM over all alignments, each written out, with a dictionary for the table."""
    together = {(q, a) for Q, A in zip(questions, answers, strict=True) for q in Q for a in A}
    t = {(q, a): 1 / sum(other == a for _, other in together) for q, a in together}
    for _ in range(n_iterations):
        counts = dict.fromkeys(t, 0.0)
        for Q, A in zip(questions, answers, strict=True):
            alignments = list(product(range(len(A)), repeat=len(Q)))
            weights = [np.prod([t[q, A[j]] for q, j in zip(Q, al, strict=True)]) for al in alignments]
            for alignment, weight in zip(alignments, weights, strict=True):
                for q, j in zip(Q, alignment, strict=True):
                    counts[q, A[j]] += weight / sum(weights)
        t = {(q, a): c / sum(v for (_, b), v in counts.items() if b == a) for (q, a), c in counts.items()}
    return t


def test_published_example():
    after_one = TranslationModel(n_iterations=1).fit(QUESTIONS, ANSWERS)
    assert after_one.probability("x", "a") == pytest.approx(0.75)
    model = TranslationModel(n_iterations=5).fit(QUESTIONS, ANSWERS)
    assert model.probability("x", "a") == pytest.approx(0.9552, abs=5e-5)
    assert model.probability("y", "b") == pytest.approx(0.8270, abs=5e-5)
    np.testing.assert_allclose(model.log_likelihoods_[:2], [-2.07944, -1.73851], atol=1e-5)


@pytest.mark.parametrize("seed", range(5))
def test_brute_force_over_all_alignments(seed):
    rng = np.random.default_rng(seed)
    questions = [list(rng.choice(list("uvwx"), rng.integers(1, 5))) for _ in range(4)]  # words may repeat
    answers = [list(rng.choice(list("abux"), rng.integers(1, 4))) for _ in range(4)]
    model = TranslationModel(n_iterations=3).fit(questions, answers)
    expected = _brute_force(questions, answers, 3)
    for (q, a), value in expected.items():
        assert model.probability(q, a) == pytest.approx(value, abs=1e-12)
    assert (np.diff(model.log_likelihoods_) >= -1e-12).all()
    for a in {word for answer in answers for word in answer}:
        assert sum(p for _, p in model.translations(a)) == pytest.approx(1)


def test_probability_of_a_question_by_the_formula():
    model = TranslationModel(smoothing=0.3, self_translation=0.4).fit(QUESTIONS, ANSWERS)
    counts = {"a": 3, "b": 2, "x": 3, "y": 2, "new": 1}  # one more than seen
    question, answer = ["x", "new", "b", "strange"], ["a", "b", "new", "odd"]

    def t(q, a):
        return 0.6 * model.probability(q, a) + 0.4 * (q == a)

    logs = [np.log(0.7 * np.mean([t(q, a) for a in answer]) + 0.3 * counts.get(q, 1) / 11) for q in question]
    result = model.log_probability([question, [], ["x"]], [answer, ["a"], []])
    assert result[0] == pytest.approx(np.mean(logs))
    assert result[1] == 0
    assert result[2] == pytest.approx(np.log(0.3 * 3 / 11))


def test_pairs_without_words_change_nothing():
    model = TranslationModel().fit([*QUESTIONS, [], ["x"]], [*ANSWERS, ["a"], []])
    expected = TranslationModel().fit(QUESTIONS, ANSWERS)
    assert model.probability("x", "a") == expected.probability("x", "a")
    assert model.log_likelihoods_ == pytest.approx(expected.log_likelihoods_)


def test_messages():
    with pytest.raises(DataError, match="2 questions, but 1 answers"):
        TranslationModel().fit(QUESTIONS, [["a"]])
    with pytest.raises(DataError, match="sequences of words"):
        TranslationModel().fit(["a question"], ["an answer"])
    with pytest.raises(DataError, match="no words"):
        TranslationModel().fit([], [])
    with pytest.raises(DataError, match="smoothing=0"):
        TranslationModel(smoothing=0.0).fit(QUESTIONS, ANSWERS)
    with pytest.raises(DataError, match="not trained"):
        TranslationModel().log_probability(QUESTIONS, ANSWERS)
