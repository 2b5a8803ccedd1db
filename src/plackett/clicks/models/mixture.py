"""Mixtures: of document and rank (Craswell), and of kinds of users."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.arguments import whole
from plackett._base.errors import DataError
from plackett._kernels.kernel import kernel, over_queries
from plackett.clicks.log import ClickLog
from plackett.clicks.models._chain import ChainPages
from plackett.clicks.models.base import ClickModel, clipped
from plackett.clicks.models.cells import CellCounts, count_ranks, rank_cells
from plackett.clicks.models.statistics import Sums, Totals

__all__ = ["MixtureModel", "PBMMixture"]


@dataclass(kw_only=True, eq=False)
class MixtureModel(ClickModel):
    r"""Mixture model: a user clicks because of the document, or blindly because of its rank.

    .. math:: P(C = 1 \mid d, i) = \lambda\, r_d + (1 - \lambda)\, b_i

    By EM. The click probabilities are identified, their division between document and rank is not: it depends on the
    start, :math:`\lambda = 1/2` and b the click rates of the ranks.

    Attributes
    ----------
    mix_
        :math:`\lambda`.
    blind_
        :math:`b` of each rank.

    References
    ----------
    Craswell, Zoeter, Taylor, Ramsey: An experimental comparison of click position-bias models. WSDM 2008.
    """

    name: ClassVar[str] = "Mixture"
    _arrays: ClassVar[tuple[str, ...]] = ("blind_",)
    needs_moves: ClassVar[bool] = True
    _shared: ClassVar[tuple[str, ...]] = ("blind_", "mix_")

    def pages_of(self, log: ClickLog) -> CellCounts:
        """What passes over the log need."""
        return count_ranks(log, self.n_ranks_, self.n_jobs)

    def _start(self, totals: Totals) -> None:
        self.blind_ = clipped(totals.cell_clicks / np.maximum(totals.cell_shown, 1e-12))
        self.mix_ = 0.5
        self.attraction_ = clipped((self.clicks_ + 1.0) / (self.shown_ + 2.0))
        self._cell_shown, self._cell_clicks = totals.cell_shown, totals.cell_clicks

    def expectations(self, pages: CellCounts) -> Sums:
        """Expectation step for a log or a part of it."""
        pair, cell, n = pages.pair, pages.cell, self.attraction_.size
        r, b = self.attraction_[pair], self.blind_[cell]
        chance = self.mix_ * r + (1 - self.mix_) * b
        value = float((pages.clicks * np.log(chance) + pages.skips * np.log1p(-chance)).sum())
        by_document = pages.clicks * self.mix_ * r / chance
        looked = by_document + pages.skips * self.mix_ * (1 - r) / (1 - chance)
        return Sums(
            value,
            {"hits": np.bincount(pair, by_document, minlength=n), "looked": np.bincount(pair, looked, minlength=n)},
            {
                "hits": np.bincount(cell, by_document, minlength=self.n_ranks_),
                "looked": np.bincount(cell, looked, minlength=self.n_ranks_),
            },
        )

    def _maximise(self, sums: Sums) -> None:
        self._hits, self.examined_ = sums.pairs["hits"], sums.pairs["looked"]
        a, c = self.prior_
        self.attraction_ = clipped((self._hits + a) / np.maximum(self.examined_ + a + c, 1e-12))
        looked = sums.shared["looked"]
        clicks, shown = self._cell_clicks - sums.shared["hits"], self._cell_shown - looked
        self.blind_ = clipped(np.where(shown > 0, clicks / np.maximum(shown, 1e-12), self.blind_))
        self.mix_ = float(clipped(looked.sum() / self._cell_shown.sum()))

    def _estimate_priors(self) -> None:
        from plackett.clicks.models._prior import estimate_prior

        self.prior_ = estimate_prior(self._hits, self.examined_)

    def _numbers(self) -> dict[str, Any]:
        return {"mix_": self.mix_}

    def _numbers_known(self) -> tuple[str, ...]:
        return ("mix_",)

    def click_probabilities(self, log: ClickLog) -> np.ndarray:
        """Probability of a click on each row, before any click of the page is known."""
        blind = self.blind_[rank_cells(log, self.n_ranks_)]
        return self.mix_ * self.attraction(log)[log.pair] + (1 - self.mix_) * blind

    def conditional_probabilities(self, log: ClickLog) -> np.ndarray:
        """Probability of a click on each row, given what was clicked above it."""
        return self.click_probabilities(log)

    def _draw(self, log: ClickLog, rng: np.random.Generator) -> np.ndarray:
        return rng.random(log.n_rows) < self.click_probabilities(log)


@kernel
def _types_pass(lo, hi, part_rows, pages, rates, by_pair, by_type, likelihood):
    part_pages, offsets, pair, rank, clicked, weight = pages
    attraction, examination, share = rates
    examined, informed = by_pair
    n_types = share.size
    level = np.empty(n_types)
    for part in range(lo, hi):
        for page in range(part_pages[part], part_pages[part + 1]):
            a = offsets[page]
            b = offsets[page + 1]
            w = weight[page]
            top = -np.inf
            for z in range(n_types):
                total = np.log(share[z])
                for row in range(a, b):
                    hit = examination[z, rank[row]] * attraction[pair[row]]
                    total += np.log(hit if clicked[row] else 1.0 - hit)
                level[z] = total
                top = max(top, total)
            total = 0.0
            for z in range(n_types):
                level[z] = np.exp(level[z] - top)
                total += level[z]
            likelihood[part] += w * (top + np.log(total))
            for z in range(n_types):
                mine = w * level[z] / total
                by_type[part, z, 0, 0] += mine
                for row in range(a, b):
                    p = pair[row]
                    look = examination[z, rank[row]]
                    seen = 1.0
                    if not clicked[row]:
                        seen = look * (1.0 - attraction[p]) / (1.0 - look * attraction[p])
                        informed[p] += mine * seen * seen
                    examined[p] += mine * seen
                    by_type[part, z, 1, rank[row]] += mine * seen
                    by_type[part, z, 2, rank[row]] += mine


@kernel
def _types_conditional(lo, hi, offsets, rank, clicked, rates, examination, share, seen_clicks, out):
    n_types = share.size
    now = np.empty(n_types)
    for page in range(lo, hi):
        for z in range(n_types):
            now[z] = share[z]
        for row in range(offsets[page], offsets[page + 1]):
            total = 0.0
            for z in range(n_types):
                total += now[z] * examination[z, rank[row]] * rates[row]
            out[row] = total
            if seen_clicks:
                for z in range(n_types):
                    hit = examination[z, rank[row]] * rates[row]
                    now[z] *= hit / max(total, 1e-300) if clicked[row] else (1.0 - hit) / max(1.0 - total, 1e-300)


@dataclass(kw_only=True, eq=False)
class PBMMixture(ClickModel):
    r"""Position-based model with several kinds of users, each with an examination of its own.

    .. math:: P(C \mid \text{page}) = \sum_z \pi_z \prod_i (\theta_{z,i}\, r_{d_i})^{C_i}
              (1 - \theta_{z,i}\, r_{d_i})^{1 - C_i}

    The kind is one per page, so that clicks of a page depend on each other. By EM over pages.

    Parameters
    ----------
    n_types
        Number of kinds.

    Attributes
    ----------
    share_
        :math:`\pi` of each kind, the most frequent first.
    examination_
        :math:`\theta` of each kind (rows) and rank; the largest at the first rank is 1.

    References
    ----------
    Yan, Qin, Zhuang, Wang, Bendersky, Najork: Revisiting two-tower models for unbiased learning to rank. SIGIR 2022.
    """

    name: ClassVar[str] = "PBMMixture"
    _arrays: ClassVar[tuple[str, ...]] = ("share_", "examination_")
    needs_moves: ClassVar[bool] = True
    _shared: ClassVar[tuple[str, ...]] = ("share_", "examination_")

    n_types: int = 2

    def pages_of(self, log: ClickLog) -> ChainPages:
        """What passes over the log need."""
        return ChainPages.of(log, self.n_ranks_, self.n_jobs)

    def _start(self, totals: Totals) -> None:
        whole("n_types", self.n_types, least=1)
        self.attraction_ = clipped((self.clicks_ + 1.0) / (self.shown_ * 0.7 + 2.0))
        self.share_ = np.full(self.n_types, 1.0 / self.n_types)
        steep = np.linspace(0.3, 1.2, self.n_types)[:, None] if self.n_types > 1 else np.array([[0.7]])
        self.examination_ = np.arange(1, self.n_ranks_ + 1.0) ** -steep
        self.examination_[:, 1:] = np.minimum(self.examination_[:, 1:], 0.95)

    def expectations(self, pages: ChainPages) -> Sums:
        """Expectation step for a log or a part of it."""
        n_parts = pages.part_rows.size - 1
        examined, informed = np.zeros(pages.n_pairs), np.zeros(pages.n_pairs)
        by_type = np.zeros((n_parts, self.n_types, 3, pages.n_ranks))
        likelihood = np.zeros(n_parts)
        over_queries(
            _types_pass,
            pages.part_rows,
            (pages.part_pages, pages.offsets, pages.pair, pages.rank, pages.clicked, pages.weight),
            (self.attraction_, self.examination_, self.share_),
            (examined, informed),
            by_type,
            likelihood,
            n_jobs=self.n_jobs,
        )
        by_pair = {"examined": examined, "informed": informed}
        return Sums(float(likelihood.sum()), by_pair, {"types": by_type.sum(axis=0)})

    def _maximise(self, sums: Sums) -> None:
        self.informed_ = sums.pairs["informed"]
        self._attract(sums.pairs["examined"])
        types = sums.shared["types"]
        self.share_ = np.clip(types[:, 0, 0] / types[:, 0, 0].sum(), 1e-9, 1.0)
        look = np.clip(types[:, 1] / np.maximum(types[:, 2], 1e-12), 1e-9, 1 - 1e-9)
        self.examination_ = np.where(types[:, 2] > 0, look, self.examination_)
        if not isinstance(self.prior, str) and self.prior is not None:
            return
        # products alone are identified: the scale with the largest first rank at 1 has the same likelihood
        top = self.examination_[:, 0].max()
        scale = min(top, 1.0)
        if self.examination_.max() <= scale:
            self.examination_ = np.minimum(self.examination_ / scale, 1 - 1e-9)
            self.attraction_ = clipped(self.attraction_ * scale)

    def _predict(self, log: ClickLog, seen_clicks: bool) -> np.ndarray:
        out = np.empty(log.n_rows)
        rank, rates = rank_cells(log, self.n_ranks_), self.attraction(log)[log.pair]
        over_queries(
            _types_conditional,
            log.offsets,
            rank,
            log.clicked,
            rates,
            self.examination_,
            self.share_,
            seen_clicks,
            out,
        )
        return out

    def click_probabilities(self, log: ClickLog) -> np.ndarray:
        """Probability of a click on each row, before any click of the page is known."""
        return self._predict(log, False)

    def conditional_probabilities(self, log: ClickLog) -> np.ndarray:
        """Probability of a click on each row, given what was clicked above it."""
        return self._predict(log, True)

    def _draw(self, log: ClickLog, rng: np.random.Generator) -> np.ndarray:
        kind = rng.choice(self.share_.size, log.n_pages, p=self.share_ / self.share_.sum())
        look = self.examination_[kind[log.page], rank_cells(log, self.n_ranks_)]
        return rng.random(log.n_rows) < look * self.attraction(log)[log.pair]

    def _check_restored(self) -> None:
        if self.examination_.shape != (self.share_.size, self.n_ranks_):
            raise DataError(f"examination_ has shape {self.examination_.shape}")
