"""Expert finding: people are ranked by the documents that connect them with a question.

    python examples/recipes/experts.py

learns from made-up people, two documents each, and prints who is the expert.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator

from plackett import DataError, RankingDataset


@dataclass(frozen=True, eq=False, kw_only=True)
class SupportedCandidates:
    """Candidates of questions, each with its supporting documents.

    Attributes
    ----------
    relevance
        Features of the question with each document: how much the document is about the question.
    association
        Features of the candidate with each document: how much the document is the candidate's.
    offsets
        First document of each candidate, and the number of documents.
    qid
        Question of each candidate.
    labels
        Whether each candidate is an expert, or None.
    prior
        Weight of each document; by default 1 divided by the number of documents of its candidate.
    """

    relevance: np.ndarray
    association: np.ndarray
    offsets: np.ndarray
    qid: np.ndarray
    labels: np.ndarray | None = None
    prior: np.ndarray | None = None

    def __post_init__(self) -> None:
        for name in ("relevance", "association", "offsets", "qid", "labels", "prior"):
            if (given := getattr(self, name)) is not None:
                object.__setattr__(self, name, np.asarray(given))
        for name in ("relevance", "association"):
            if getattr(self, name).ndim != 2:
                shape = getattr(self, name).shape
                raise DataError(f"{name} has shape {shape}; give a table with a row for each document")
        if self.offsets.ndim != 1 or not self.offsets.size or self.offsets.dtype.kind not in "iu":
            raise DataError("offsets must be whole numbers: the first document of each candidate, and their number")
        n, documents = self.offsets.size - 1, int(self.offsets[-1])
        if self.offsets[0] != 0 or (self.offsets[1:] <= self.offsets[:-1]).any():
            raise DataError("every candidate needs a document: offsets must start at 0 and rise")
        for name, values, size in (
            ("relevance", self.relevance, documents),
            ("association", self.association, documents),
            ("qid", self.qid, n),
            ("labels", self.labels, n),
            ("prior", self.prior, documents),
        ):
            if values is not None and values.shape[0] != size:
                raise DataError(f"{name} has {values.shape[0]:,} rows; by the offsets there should be {size:,}")
        for name, values in (("relevance", self.relevance), ("association", self.association), ("prior", self.prior)):
            if values is not None and not np.isfinite(values).all():
                raise DataError(f"{name} has values that are missing or infinite")
        if self.prior is not None and (self.prior < 0).any():
            raise DataError("prior has negative values")

    def __len__(self) -> int:
        return int(self.offsets.size - 1)

    @property
    def weights(self) -> np.ndarray:
        """Weights of the documents; those of a candidate sum to 1."""
        sizes = np.diff(self.offsets)
        if self.prior is None:
            return np.repeat(1.0 / sizes, sizes)
        total = np.add.reduceat(self.prior, self.offsets[:-1])
        return np.where(
            np.repeat(total, sizes) > 0,
            self.prior / np.repeat(np.maximum(total, 1e-300), sizes),
            1 / np.repeat(sizes, sizes),
        )

    def dataset(self, X: Any = None) -> RankingDataset:
        """The candidates as documents of a dataset, for measures and comparisons."""
        return RankingDataset.from_arrays(X, self.labels, self.qid)


class ExpertModel(BaseEstimator):
    r"""Probability that a candidate is an expert for a question, learned from examples.

    A candidate :math:`e` is connected with a question :math:`q` by documents :math:`d_t` of weight :math:`P(d_t)`. With
    features :math:`f(q, d)` of question and document and :math:`g(e, d)` of candidate and document,

    .. math::
        P(1 \mid e, q) = \sum_t P(d_t)\,\sigma(a^\top f_t)\,\sigma(b^\top g_t)
        \quad\text{or}\quad
        P(1 \mid e, q) = \sigma\Big(\sum_t P(d_t)\,(a^\top f_t + b^\top g_t)\Big).

    The arithmetic form asks for *some* document that is both about the question and the candidate's; the geometric one
    adds up evidence and is a logistic regression on weighted means. :math:`a` and :math:`b`, with intercepts, have the
    greatest likelihood less ``alpha`` times their squared norm. The arithmetic form is not concave: `fit` starts where
    the geometric form ends.

    Parameters
    ----------
    form
        ``"arithmetic"`` or ``"geometric"``.
    alpha
        Penalty of the squared coefficients, as a share of the number of candidates; intercepts are free.
    max_iter
        Maximum number of iterations of L-BFGS.

    Examples
    --------
    >>> one = np.ones((4, 1))
    >>> pairs = SupportedCandidates(relevance=np.array([[2.0], [-2.0], [2.0], [-2.0]]), association=one,
    ...     offsets=np.arange(5), qid=np.array([1, 1, 2, 2]), labels=np.array([1, 0, 1, 0]))
    >>> ExpertModel("geometric", alpha=0.1).fit(pairs).predict(pairs).round(1).tolist()
    [0.9, 0.1, 0.9, 0.1]

    References
    ----------
    Fang, Si, Mathur: Discriminative models of integrating document evidence and document-candidate associations for
    expert search. SIGIR 2010.
    """

    def __init__(self, form: str = "arithmetic", *, alpha: float = 0.01, max_iter: int = 200) -> None:
        self.form, self.alpha, self.max_iter = form, alpha, max_iter

    def fit(self, candidates: SupportedCandidates) -> Self:
        """Learn from judged candidates; labels above 0 are experts."""
        if self.form not in ("arithmetic", "geometric"):
            raise DataError(f"form={self.form!r}; give 'arithmetic' or 'geometric'")
        if not self.alpha >= 0:
            raise DataError(f"alpha={self.alpha!r}; give a number that is not negative")
        if candidates.labels is None:
            raise DataError("the candidates have no labels; give judged ones")
        if np.isnan(np.asarray(candidates.labels, np.float64)).any():
            raise DataError("a label is missing (NaN); leave the candidate out")
        y = np.asarray(candidates.labels) > 0
        if y.all() or not y.any():
            raise DataError("all candidates have the same label: there is nothing to learn")
        self.n_relevance_, self.n_association_ = candidates.relevance.shape[1], candidates.association.shape[1]
        start = np.zeros(self.n_relevance_ + self.n_association_ + 2)
        for form in ("geometric", "arithmetic")[: 1 if self.form == "geometric" else 2]:
            start = self._maximised(candidates, y, form, start)
        self.coef_ = start
        return self

    def predict(self, candidates: SupportedCandidates) -> np.ndarray:
        """Probability that each candidate is an expert."""
        if not hasattr(self, "coef_"):
            raise DataError("the model is not trained; call fit first")
        n_features = candidates.relevance.shape[1], candidates.association.shape[1]
        if n_features != (self.n_relevance_, self.n_association_):
            expected = f"{self.n_relevance_} and {self.n_association_}"
            raise DataError(
                f"{n_features[0]} and {n_features[1]} features of documents; the model was trained on {expected}"
            )
        return _probability(self.coef_, candidates, self.form)[0]

    def _maximised(self, candidates: SupportedCandidates, y: np.ndarray, form: str, start: np.ndarray) -> np.ndarray:
        from scipy.optimize import minimize

        def loss(coef: np.ndarray) -> tuple[float, np.ndarray]:
            return likelihood_loss(coef, candidates, y, form, self.alpha)

        return np.asarray(minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": self.max_iter}).x)

    # -------------------------------------------------------------------------------------------------------- on disk

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save the fitted model as one file."""
        if not hasattr(self, "coef_"):
            raise DataError("the model is not trained; call fit first")
        with open(path, "wb") as file:
            np.savez(file, coef=self.coef_, n_relevance=self.n_relevance_, form=self.form, alpha=self.alpha)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> ExpertModel:
        """Load a model that `save` wrote."""
        try:
            with np.load(path, allow_pickle=False) as saved:
                coef, n = saved["coef"], int(saved["n_relevance"])
                form, alpha = str(saved["form"]), float(saved["alpha"])
            if (
                form not in ("arithmetic", "geometric")
                or coef.ndim != 1
                or not 0 <= n <= coef.size - 2
                or not np.isfinite(coef).all()
            ):
                raise ValueError(f"form {form!r:.20}, {n!r:.20} features")
        except (KeyError, TypeError, ValueError) as error:
            raise DataError(f"{path}: damaged ({error!r:.100})") from None
        model = cls(form, alpha=alpha)
        model.coef_ = np.asarray(coef, np.float64)
        model.n_relevance_, model.n_association_ = n, coef.size - 2 - n
        return model


def likelihood_loss(
    coef: np.ndarray, candidates: SupportedCandidates, y: np.ndarray, form: str, alpha: float
) -> tuple[float, np.ndarray]:
    """Mean negative log-likelihood with the penalty, and its gradient."""
    probability, pull = _probability(coef, candidates, form)
    p = np.clip(probability, 1e-12, 1 - 1e-12)
    n, nf = y.size, candidates.relevance.shape[1]
    slope = np.where(y, -1.0 / p, 1.0 / (1.0 - p)) / n
    by_f, by_g = (np.repeat(slope, np.diff(candidates.offsets)) * own for own in pull)
    gradient = np.concatenate([by_f @ candidates.relevance, [by_f.sum()], by_g @ candidates.association, [by_g.sum()]])
    free = coef.copy()
    free[[nf, -1]] = 0.0
    value = -np.log(np.where(y, p, 1.0 - p)).mean() + alpha * free @ free
    return float(value), gradient + 2.0 * alpha * free


def _probability(
    coef: np.ndarray, candidates: SupportedCandidates, form: str
) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray]]:
    """Probabilities, and their derivatives by the two linear scores of each document."""
    nf = candidates.relevance.shape[1]
    f = candidates.relevance @ coef[:nf] + coef[nf]
    g = candidates.association @ coef[nf + 1 : -1] + coef[-1]
    weight, starts = candidates.weights, candidates.offsets[:-1]
    if form == "geometric":
        p = _sigmoid(np.add.reduceat(weight * (f + g), starts))
        pull = weight * np.repeat(p * (1.0 - p), np.diff(candidates.offsets))
        return p, (pull, pull)
    sf, sg = _sigmoid(f), _sigmoid(g)
    both = weight * sf * sg
    return np.add.reduceat(both, starts), (both * (1.0 - sf), both * (1.0 - sg))


def _sigmoid(x: np.ndarray) -> np.ndarray:
    return 0.5 * (1.0 + np.tanh(0.5 * x))


def main() -> None:
    """Learn from made-up people with two documents each, and print who is the expert for a new question."""
    rng = np.random.default_rng(0)
    relevance, association = rng.normal(size=(400, 1)), rng.uniform(size=(400, 1))
    own = (relevance[:, 0] > 0.5) & (association[:, 0] > 0.5)
    people = {"offsets": np.arange(0, 401, 2), "qid": np.arange(200) // 4}
    labels = own.reshape(200, 2).any(axis=1).astype(int)
    model = ExpertModel("arithmetic", alpha=0.001).fit(
        SupportedCandidates(relevance=relevance, association=association, labels=labels, **people)
    )
    asked = SupportedCandidates(
        relevance=np.array([[3.0], [2.5], [0.1], [2.8], [0.2], [0.1]]),  # question and document: BM25, shared tags, …
        association=np.array([[1.0], [0.9], [0.8], [0.0], [1.0], [1.0]]),  # person and document: author? votes?
        offsets=np.array([0, 2, 4, 6]),
        qid=np.array(["question"] * 3),
    )
    for name, probability in zip(("Ann", "Bob", "Cleo"), model.predict(asked), strict=True):
        print(f"{name}: {probability:.2f}")


if __name__ == "__main__":
    main()
