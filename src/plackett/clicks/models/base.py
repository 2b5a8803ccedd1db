"""What all click models share."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from plackett._base.arguments import number
from plackett._base.errors import DataError, reading
from plackett._base.progress import progress
from plackett._files import storage
from plackett.clicks.log import ClickLog
from plackett.clicks.models._prior import FLAT, BetaPrior, latent_posterior, latent_prior
from plackett.clicks.models.statistics import Sums, Totals
from plackett.clicks.pairs import PairTable

if TYPE_CHECKING:
    import polars as pl

#: Probabilities of clicks are kept this far from 0 and 1 when a log is scored.
SMALLEST = 1e-6
#: The same for parameters while they are fitted.
_EDGE = 1e-9


def clipped(values: Any) -> Any:
    """Probabilities away from 0 and 1, so that the log-likelihood stays finite."""
    return np.clip(values, _EDGE, 1.0 - _EDGE)


@dataclass(frozen=True)
class Perplexity:
    """Perplexity of clicks: 1 is a perfect prediction, 2 a coin."""

    #: Mean over ranks.
    mean: float
    #: One value per rank, from the top.
    per_rank: np.ndarray


@dataclass(kw_only=True, eq=False)
class ClickModel:
    r"""Base of the click models.

    Parameters
    ----------
    prior
        Prior of the attraction of a pair, as imagined counts. ``"estimated"`` chooses those under which the log is most
        probable: the more alike pairs are, the more rare ones are pulled towards the mean. (a, b) sets them. None uses
        no prior, that is, plain maximum likelihood. The estimate integrates over the attraction of the pairs. Fitting
        the prior to their point estimates in the M step instead would never lower the joint density, but that has no
        maximum: the prior would become ever narrower until all pairs are alike.
    max_iter
        Maximum number of passes over the log.
    tol
        Stop when the log-likelihood of a page grows by less than this on average.
    n_jobs
        Threads; None for all cores.

    Attributes
    ----------
    pairs_
        The pairs of query and document (`PairTable`); arrays over pairs are in its order.
    attraction_
        Probability of a click on each pair once examined.
    clicks_, examined_, shown_
        Clicks, expected examinations and impressions of each pair.
    prior_
        The prior used.
    log_likelihoods_
        Log-likelihood of the log before each pass. It never falls without a prior. With a given prior, what never falls
        is its sum with :math:`\sum_p a \log r_p + b \log(1 - r_p)`. An estimated prior changes after the passes 2, 4,
        8, …, and with it what is maximised, so the log-likelihood may fall there.
    n_iter_
        Number of passes.
    """

    name: ClassVar[str]
    #: Capabilities, for the table of `compare_models`.
    several_clicks: ClassVar[bool] = True
    #: Whether only documents shown at several ranks tell the rank from the relevance.
    needs_moves: ClassVar[bool] = False
    #: Names of the fitted arrays that a file keeps, in addition to those of the base.
    _arrays: ClassVar[tuple[str, ...]] = ()
    #: Names of the parameters of a pass with one entry per pair, and of those that pairs share.
    _by_pair: ClassVar[tuple[str, ...]] = ("attraction_",)
    _shared: ClassVar[tuple[str, ...]] = ()

    prior: Any = "estimated"
    max_iter: int = 50
    tol: float = 1e-6
    n_jobs: int | None = None
    _seen: Any = field(init=False, default=None, repr=False)

    # ---------------------------------------------------------------------------------------------------------- fit

    def fit(self, log: ClickLog, *, verbose: bool = False) -> Self:
        """Fit the model to a log."""
        if log.n_rows == 0:
            raise DataError("the log has no documents")
        self.pairs_, self.n_ranks_ = PairTable.of(log), log.longest
        self.prior_ = self._given_prior()
        if not self.has_passes:
            self.shown_, self.clicks_ = _shown_and_clicks(log)
        self.log_likelihoods_: list[float] = []
        self._fit(log, verbose)
        return self

    def fit_blocks(
        self, totals: Totals, statistics: Callable[[dict[str, Any]], Sums], *, verbose: bool = False
    ) -> Self:
        """Fit to pages that lie elsewhere, in blocks of whole queries, by the sums that each pass needs of them.

        The result is that of `fit` on all pages, up to the rounding of sums that are added in another order.

        Parameters
        ----------
        totals
            `Totals.join` of the `totals` of the blocks.
        statistics
            Called before each pass with the `parameters`; it returns `Sums.join` of the `statistics` of the blocks, in
            the order of ``totals``. A block needs the parameters of its own pairs only (`block_parameters`).
        """
        self._check_passes()
        self.prior_ = self._given_prior()
        self.log_likelihoods_ = []
        self._fit_passes(totals, statistics, verbose)
        return self

    def totals(self, log: ClickLog, n_ranks: int) -> Totals:
        """Totals of a block of pages, with the largest rank of all blocks."""
        self._check_passes()
        return self._totals(log, self.prepare(log, n_ranks), n_ranks)

    def _totals(self, log: ClickLog, pages: Any, n_ranks: int) -> Totals:
        none = np.zeros(0)
        cells = getattr(pages, "cell_shown", none), getattr(pages, "cell_clicks", none)
        total = float(log.page_weight.sum())
        return Totals(PairTable.of(log), n_ranks, total, pages.pair_shown, pages.pair_clicks, *cells)

    def prepare(self, log: ClickLog, n_ranks: int) -> Any:
        """Pages of a block in the form that `statistics` takes; make it once, use it in every pass."""
        model = copy(self)
        model.n_ranks_ = n_ranks
        return model.pages_of(log)

    def parameters(self) -> dict[str, Any]:
        """Parameters that the next pass starts from."""
        return {name: getattr(self, name) for name in ("n_ranks_", *self._by_pair, *self._shared)}

    def block_parameters(self, parameters: Mapping[str, Any], start: int, stop: int) -> dict[str, Any]:
        """Parameters of the pairs from ``start`` to ``stop``, and the shared ones."""
        return {name: value[start:stop] if name in self._by_pair else value for name, value in parameters.items()}

    def statistics(self, pages: Any, parameters: Mapping[str, Any]) -> Sums:
        """Sums over the pages of a block that one pass of EM needs.

        Parameters
        ----------
        pages
            Of `prepare`.
        parameters
            Of `parameters`, for the pairs of the block.
        """
        model = copy(self)
        model.__dict__.update(parameters)
        return model.expectations(pages)

    @property
    def has_passes(self) -> bool:
        """Whether it is fitted by passes of EM, each of which needs sums over pages only."""
        return type(self)._fit is ClickModel._fit

    def _check_passes(self) -> None:
        if not self.has_passes:
            raise DataError(f"{self.name} is fitted in one pass over one log, not by sums over blocks")

    def partial_fit(self, log: ClickLog, *, decay: float = 1.0) -> Self:
        """Fit to one more part of a log. Earlier parts still count; they are kept as distinct pages with counts.

        The result is that of `fit` on all parts together; memory grows with distinct pages, not with pages.

        Parameters
        ----------
        decay
            Weight of all earlier parts from now on: below 1, old pages are gradually forgotten.
        """
        number("decay", decay, above=0, most=1)
        new = log.collapse()
        if self._seen is not None:
            old = self._seen.replace(weight=self._seen.page_weight * decay)
            new = ClickLog.concat([old, new]).collapse()
        self._seen = new
        return self.fit(new)

    def _given_prior(self) -> BetaPrior:
        if self.prior is None:
            return FLAT
        if isinstance(self.prior, str):
            if self.prior != "estimated":
                raise DataError(f"prior={self.prior!r}; give 'estimated', None or two numbers")
            return BetaPrior(1.0, 1.0)
        a, b = (float(x) for x in self.prior)
        if not (a >= 0 and b >= 0 and np.isfinite(a + b)):
            raise DataError(f"prior={self.prior!r}; imagined clicks and skips are not negative")
        return BetaPrior(a, b)

    def _fit(self, log: ClickLog, verbose: bool) -> None:
        """Fit by passes; models with a closed form override this."""
        pages = self.pages_of(log)
        self._fit_passes(self._totals(log, pages, self.n_ranks_), lambda _: self.expectations(pages), verbose)

    def _fit_passes(self, totals: Totals, statistics: Callable[[dict[str, Any]], Sums], verbose: bool) -> None:
        self.pairs_, self.n_ranks_ = totals.pairs, totals.n_ranks
        self.shown_, self.clicks_ = totals.shown, totals.clicks
        self._start(totals)
        pages = max(totals.pages, 1.0)
        fresh_prior = False
        for step in progress(range(self.max_iter), self.name, self.max_iter, verbose=verbose):
            sums = statistics(self.parameters())
            self._maximise(sums)
            value = sums.log_likelihood
            self.log_likelihoods_.append(value)
            if step and not fresh_prior and abs(value - self.log_likelihoods_[-2]) < self.tol * pages:
                break
            fresh_prior = isinstance(self.prior, str) and step in (1, 3, 7, 15, 31, 63, 127)
            if fresh_prior:
                self._estimate_priors()
        self.n_iter_ = len(self.log_likelihoods_)

    def pages_of(self, log: ClickLog) -> Any:
        """What passes over the log need."""
        raise NotImplementedError

    def _start(self, totals: Totals) -> None:
        """Parameters to start from."""
        raise NotImplementedError

    def expectations(self, pages: Any) -> Sums:
        """Expectations at the parameters; depends on nothing but `parameters`."""
        raise NotImplementedError

    def _maximise(self, sums: Sums) -> None:
        """Better parameters from the expectations."""
        raise NotImplementedError

    def _estimate_priors(self) -> None:
        self.prior_ = latent_prior(self.clicks_, *self._evidence_of_skips())

    def _evidence_of_skips(self) -> tuple[np.ndarray, np.ndarray]:
        """Skips of each pair as a number of equal ones, and the chance with which each was examined.

        A skip that was examined with chance w has the likelihood 1 − w a. The numbers have the sum and the sum of
        squares of the expected examinations of the pair.
        """
        missed = np.maximum(self.examined_ - self.clicks_, 0.0)
        informed = np.clip(getattr(self, "informed_", missed), 1e-12, np.maximum(missed, 1e-12))
        look = np.where(missed > 1e-9, informed / np.maximum(missed, 1e-12), 1.0)
        return missed**2 / informed, look / (1.0 - self.attraction_ * (1.0 - look))

    def _attract(self, examined: np.ndarray) -> None:
        """New attraction: clicks per examination."""
        a, b = self.prior_
        self.examined_ = examined
        self.attraction_ = clipped((self.clicks_ + a) / np.maximum(examined + a + b, 1e-12))

    # ---------------------------------------------------------------------------------------------------- prediction

    def check_fitted(self) -> None:
        """Raise an error if it is not fitted yet."""
        if not hasattr(self, "pairs_"):
            raise DataError(f"{self.name} is not fitted yet: call fit(log)")

    def _of_pairs(self, values: np.ndarray, log: ClickLog, unknown: float) -> np.ndarray:
        """Values of the pairs of a log; one value for those that the model does not know."""
        at = self.pairs_.in_log(log)
        return np.where(at >= 0, np.append(values, unknown)[at], unknown)

    def attraction(self, log: ClickLog) -> np.ndarray:
        """Attraction of each pair of a log; unknown pairs have the mean of the prior."""
        self.check_fitted()
        return self._of_pairs(self.attraction_, log, self._unknown())

    def _unknown(self) -> float:
        if sum(self.prior_) > 0:
            return self.prior_.mean
        return float(np.average(self.attraction_, weights=np.maximum(self.shown_, 1e-12)))

    def click_probabilities(self, log: ClickLog) -> np.ndarray:
        """Probability of a click on each row, before any click of the page is known."""
        raise NotImplementedError

    def conditional_probabilities(self, log: ClickLog) -> np.ndarray:
        """Probability of a click on each row, given what was clicked above it."""
        raise NotImplementedError

    def page_log_likelihoods(self, log: ClickLog) -> np.ndarray:
        """Log-likelihood of the clicks of each page. Probabilities are kept 10⁻⁶ away from 0 and 1."""
        chance = np.clip(self.conditional_probabilities(log), SMALLEST, 1 - SMALLEST)
        each = np.log(np.where(log.clicked, chance, 1.0 - chance))
        return np.bincount(log.page, each, minlength=log.n_pages)

    def log_likelihood(self, log: ClickLog) -> float:
        """Log-likelihood of a log: the sum over its pages."""
        return float((self.page_log_likelihoods(log) * log.page_weight).sum())

    def perplexity(self, log: ClickLog, *, conditional: bool = False) -> Perplexity:
        """Perplexity of clicks at each rank: 2 to the minus mean binary logarithm of the probability of what happened.

        Parameters
        ----------
        conditional
            Whether the clicks above are known.
        """
        predict = self.conditional_probabilities if conditional else self.click_probabilities
        return perplexity(predict(log), log)

    # ------------------------------------------------------------------------------------------------------ relevance

    def _relevance(self) -> np.ndarray:
        """Relevance of each pair."""
        return self.attraction_

    def _posterior(self, level: float) -> np.ndarray:
        """Mean, variance and interval of the attraction of each pair, given the other parameters."""
        prior = self.prior_ if sum(self.prior_) > 0 else BetaPrior(0.5, 0.5)
        return latent_posterior(self.clicks_, *self._evidence_of_skips(), prior, level, self.n_jobs)

    def _attraction_variance(self) -> np.ndarray:
        return self._posterior(0.95)[1]

    def _interval(self, level: float) -> tuple[np.ndarray, np.ndarray]:
        """Ends of the interval of the relevance of each pair."""
        _, _, lower, upper = self._posterior(level)
        return lower, upper

    def relevance(self, level: float = 0.95) -> pl.DataFrame:
        """Relevance of each pair with an interval: query, document, relevance, lower, upper, shown, clicks.

        Parameters
        ----------
        level
            Probability that the interval has the relevance, given the other parameters of the model.
        """
        import polars as pl

        from plackett.data.frame_columns import id_series

        self.check_fitted()
        mean = self._relevance()
        lower, upper = self._interval(level)
        return pl.DataFrame(
            [
                id_series("query", self.pairs_.queries).gather(self.pairs_.query),
                id_series("document", self.pairs_.documents).gather(self.pairs_.document),
                pl.Series("relevance", mean),
                pl.Series("lower", np.minimum(lower, mean)),
                pl.Series("upper", np.maximum(upper, mean)),
                pl.Series("shown", self.shown_),
                pl.Series("clicks", self.clicks_),
            ]
        )

    # ----------------------------------------------------------------------------------------------------- simulation

    def simulate(self, log: ClickLog, *, random_state: Any = None) -> ClickLog:
        """The pages of a log with new clicks, drawn from the model."""
        self.check_fitted()
        clicks = self._draw(log, np.random.default_rng(random_state))
        drop: dict[str, Any] = dict.fromkeys(("click_order", "dwell", "actions"))
        return log.replace(clicks=clicks.astype(np.int32), **drop)

    def _draw(self, log: ClickLog, rng: np.random.Generator) -> np.ndarray:
        raise NotImplementedError

    # ---------------------------------------------------------------------------------------------------------- files

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to one file (`plackett.clicks.load_model`)."""
        self.check_fitted()
        arrays = self.pairs_.arrays()
        for name in ("attraction_", "clicks_", "examined_", "shown_", "informed_", *self._arrays):
            if hasattr(self, name):
                arrays[name] = np.asarray(getattr(self, name))
        parameters = {each.name: getattr(self, each.name) for each in fields(self) if each.init}
        header = {"parameters": parameters, "n_ranks": self.n_ranks_, "prior": list(self.prior_)}
        header["log_likelihoods"] = [float(value) for value in self.log_likelihoods_]
        header["numbers"] = self._numbers()
        text = json.dumps(header, default=_plain)
        storage.write(path, arrays, {"kind": "click model", "model": self.name, "header": text})

    def _numbers(self) -> dict[str, Any]:
        """Fitted values that are not arrays."""
        return {}

    def _restore(self, arrays: dict[str, np.ndarray], header: dict[str, Any]) -> Self:
        self.pairs_ = PairTable.from_arrays(arrays)
        self.n_ranks_ = int(header["n_ranks"])
        self.prior_ = BetaPrior(*(float(x) for x in header["prior"]))
        self.log_likelihoods_ = [float(value) for value in header["log_likelihoods"]]
        self.n_iter_ = len(self.log_likelihoods_)
        for name in ("attraction_", "clicks_", "examined_", "shown_", "informed_"):
            if name in arrays:
                per_pair = arrays[name]
                if per_pair.dtype != np.float64 or per_pair.shape != (len(self.pairs_),):
                    raise DataError(f"{name} has shape {per_pair.shape} for {len(self.pairs_)} pairs")
                setattr(self, name, per_pair)
        for name in self._arrays:
            if name not in arrays or arrays[name].dtype != np.float64:
                raise DataError(f"{name} is missing")
            setattr(self, name, arrays[name])
        for name, value in header["numbers"].items():
            if name not in self._numbers_known():
                raise DataError(f"unknown number {name!r}")
            setattr(self, name, tuple(value) if isinstance(value, list) else value)
        self._check_restored()
        return self

    def _numbers_known(self) -> tuple[str, ...]:
        return ()

    def _check_restored(self) -> None:
        """Refuse arrays whose shape does not fit the ranks."""


def _shown_and_clicks(log: ClickLog) -> tuple[np.ndarray, np.ndarray]:
    if log.weight is None:
        counts = np.bincount(log.pair, minlength=log.n_pairs), np.bincount(log.pair[log.clicked], minlength=log.n_pairs)
        return counts[0].astype(np.float64), counts[1].astype(np.float64)
    shown = np.bincount(log.pair, log.row_weight, minlength=log.n_pairs)
    return shown, np.bincount(log.pair, log.row_weight * log.clicked, minlength=log.n_pairs)


def _plain(value: Any) -> Any:
    if hasattr(value, "tolist"):
        return value.tolist()
    raise DataError(f"a model with {value!r} among its parameters cannot be saved")


def load_file(path: str | os.PathLike[str], classes: Mapping[str, type[ClickModel]]) -> ClickModel:
    """Read a model that `ClickModel.save` wrote."""
    with reading(path, "the click model"):
        arrays, metadata = storage.read(path, kind="click model", mmap=False)
        header = json.loads(metadata["header"])
        kind = classes.get(metadata.get("model", ""))
        if kind is None:
            raise DataError(f"the click model {metadata.get('model')!r} is not known to this version of plackett")
        known = {each.name for each in fields(kind) if each.init}
        parameters = {name: value for name, value in header["parameters"].items() if name in known}
        return kind(**parameters)._restore(arrays, header)


def perplexity(probabilities: np.ndarray, log: ClickLog) -> Perplexity:
    """Perplexity of predicted clicks; see `ClickModel.perplexity`."""
    chance = np.clip(probabilities, SMALLEST, 1 - SMALLEST)
    bits = np.log2(np.where(log.clicked, chance, 1.0 - chance))
    total = np.bincount(log.rank - 1, bits * log.row_weight, minlength=log.longest)
    count = np.bincount(log.rank - 1, log.row_weight, minlength=log.longest)
    with np.errstate(invalid="ignore", divide="ignore"):
        per_rank = np.exp2(-total / count)
    return Perplexity(float(np.nanmean(per_rank)), per_rank)
