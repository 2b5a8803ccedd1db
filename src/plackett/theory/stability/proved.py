"""The proved stability coefficients of rankers, where there are any."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from plackett.data.dataset import RankingDataset
from plackett.losses.associates import ASSOCIATES
from plackett.losses.listwise.listmle import ListMLELoss
from plackett.losses.listwise.listnet import ListNetLoss
from plackett.losses.pairwise.base import PairLoss
from plackett.losses.pairwise.hinge import Hinge
from plackett.losses.pairwise.logistic import Logistic
from plackett.theory.stability.ir_svm import ir_svm_query_stability
from plackett.theory.stability.listwise import listwise_query_stability
from plackett.theory.stability.rank_svm import rank_svm_document_stability, rank_svm_query_stability


class Proved(NamedTuple):
    """A proved coefficient and where it comes from; λ, the penalty of mean loss + λ‖f‖²."""

    value: float
    source: str
    penalty: float


def _longest(*parts: RankingDataset) -> float:
    """Length of the longest feature vector, κ."""
    squares = [np.asarray(data.X.multiply(data.X).sum(axis=1)) if hasattr(data.X, "multiply")
               else np.square(data.X, dtype=np.float64).sum(axis=1) for data in parts]  # fmt: skip
    return float(np.sqrt(max(float(s.max(initial=0.0)) for s in squares)))


def _is_svm(ranker: Any) -> bool:
    """Whether it is a linear SVM over pairs whose objective is that of the theorems."""
    from plackett.rankers.pairwise.ir_svm import IRSVM
    from plackett.rankers.pairwise.rank_svm import RankSVM

    if not isinstance(ranker, (RankSVM, IRSVM)):
        return False
    plain = ranker.C != "auto" and ranker.loss == "hinge" and not ranker.standardize and ranker.margin in (1, "auto")
    return plain and not getattr(ranker, "tie_weight", 0.0) and getattr(ranker, "level_weights", None) is None


def _by_query(ranker: Any) -> bool:
    """Whether queries, rather than pairs, have equal weights."""
    return bool(getattr(ranker, "normalize", True))


def same_penalty(ranker: Any, data: RankingDataset, changed: RankingDataset) -> dict[str, float]:
    """Parameters that keep λ of the objective when the data changes: the C of an SVM is the price of one pair."""
    from plackett.rankers.pairwise.ir_svm import IRSVM
    from plackett.rankers.pairwise.rank_svm import RankSVM

    if not isinstance(ranker, (RankSVM, IRSVM)) or isinstance(ranker.C, str):
        return {}
    before, after = (ASSOCIATES["pair"].labelled(part) for part in (data, changed))
    if _by_query(ranker):
        return {"C": ranker.C * float((before > 0).sum() / max((after > 0).sum(), 1))}
    return {"C": ranker.C * float(before.sum() / max(after.sum(), 1.0))}


def proved_stability(
    ranker: Any, data: RankingDataset, probe: RankingDataset, unit: str, mode: str, loss: Any
) -> Proved | None:
    """The coefficient of a ranker for a change of one unit, for losses of pairs or lists of data like the probe."""
    for coefficient in (maker(ranker, data, probe, loss) for maker in _MAKERS.get((unit, mode), ())):
        if coefficient is not None:
            return coefficient
    return None


def _svm_by_query(ranker: Any, data: RankingDataset, probe: RankingDataset, loss: Any) -> Proved | None:
    if not _is_svm(ranker) or not isinstance(loss, Hinge) or loss.margin != 1:
        return None
    n = ASSOCIATES["pair"].labelled(data)
    kappa = _longest(data, probe)
    r = int((n > 0).sum())
    if _by_query(ranker):
        penalty = 1.0 / (2.0 * ranker.C * r)
        return Proved(ir_svm_query_stability(r, penalty, kappa), "Lemma 3: 4κ²/(λr)", penalty)
    penalty = 1.0 / (2.0 * ranker.C * float(n.sum()))
    source = "Lemma 2: 4κ²/(λr) · max n / mean n"
    return Proved(rank_svm_query_stability(n, penalty, kappa), source, penalty)


def _svm_by_document(ranker: Any, data: RankingDataset, probe: RankingDataset, loss: Any) -> Proved | None:
    """The document framework: all documents are of one query."""
    if not _is_svm(ranker) or data.n_queries != 1 or not isinstance(loss, Hinge) or loss.margin != 1:
        return None
    # the theorem divides by all pairs of documents, labels equal or not
    m = float((data.labels >= 0).sum())
    pairs = m * (m - 1) / 2.0
    labelled = float(ASSOCIATES["pair"].labelled(data).sum())
    price = ranker.C / labelled if _by_query(ranker) else ranker.C
    penalty = 1.0 / (2.0 * price * pairs)
    return Proved(rank_svm_document_stability(m, penalty, _longest(data, probe)), "16κ²/(λm) (17.12)", penalty)


def _linear_by_query(ranker: Any, data: RankingDataset, probe: RankingDataset, loss: Any) -> Proved | None:
    """Linear models with an L2 penalty and a listwise loss, or a pair loss normalised by query."""
    model = ranker.make_model() if hasattr(ranker, "make_model") else None
    if model is None or not hasattr(model, "l1_ratio") or model.l1_ratio or model.standardize or not model.alpha:
        return None
    own = ranker.make_loss()
    if own != loss:
        return None
    penalty = model.alpha / 2.0  # mean loss + α/2 ‖w‖²
    kappa, r = _longest(data, probe), data.n_queries
    longest = int(max(data.group.max(initial=1), probe.group.max(initial=1)))
    if isinstance(own, ListMLELoss) and own.discount == "none":
        return Proved(listwise_query_stability(r, longest, penalty, kappa), "G²κ²/(λr), G = 2(m − 1)", penalty)
    if isinstance(own, ListNetLoss):
        value = listwise_query_stability(r, longest, penalty, kappa, loss="ListNet")
        return Proved(value, "G²κ²/(λr), G = 2", penalty)
    if isinstance(own, (Logistic, Hinge)) and isinstance(own, PairLoss) and own.normalize:
        return Proved(ir_svm_query_stability(r, penalty, kappa), "Lemma 3, slope 1: 4κ²/(λr)", penalty)
    return None


_MAKERS: dict[tuple[str, str], tuple[Callable[..., Proved | None], ...]] = {
    ("query", "remove"): (_svm_by_query, _linear_by_query),
    ("document", "replace"): (_svm_by_document,),
}
