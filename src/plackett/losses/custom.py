"""A user's own loss: one decorated function for one query."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.errors import LossError
from plackett._kernels.kernel import PAIR_ROWS_PER_THREAD, over_queries
from plackett._names.catalogue import items
from plackett.data.dataset import RankingDataset
from plackett.losses.base import BoundLoss, Loss

__all__ = ["loss"]

#: User-defined losses of this process, by name.
REGISTERED: dict[str, CustomLoss] = {}

_NEEDED, _MORE = ("scores", "labels", "gradient"), ("curvature", "weights")


def loss(
    function: Callable[..., float] | None = None,
    *,
    name: str | None = None,
    smooth: bool = True,
    convex: bool = False,
    shift_invariant: bool = True,
) -> Any:
    """Turn a function for one query into a loss that every model can minimise, on all cores.

    The function is compiled, so write it with NumPy and plain loops. It takes ``scores`` and ``labels`` of one query,
    fills ``gradient`` (given as zeros) and returns the value. Optional arguments, by name: ``curvature``, to be filled
    with the diagonal of the Hessian or a positive substitute (without it, Newton steps use 1), and ``weights``, the
    sample weights, which are ignored otherwise. Arguments with a default are numeric parameters of the loss. The value
    and what was filled in are multiplied by the query's weight. Documents with a label below 0 are unjudged; the
    function decides what that means. Indices are not checked in compiled code; the environment variable
    ``NUMBA_BOUNDSCHECK=1`` switches checking on for debugging. `torch_loss` takes a function in PyTorch instead, whose
    gradient is derived automatically.

    Parameters
    ----------
    name
        Name of the loss; the function's own by default.
    smooth, convex, shift_invariant
        Properties of the loss, used to choose a solver; see `plackett.losses.Loss`.

    Examples
    --------
    Pairs of unequal labels, with a squared hinge:

    >>> import numpy as np
    >>> import plackett as pk
    >>> @pk.loss
    ... def squared_pairs(scores, labels, gradient, curvature, margin=1.0):
    ...     total = 0.0
    ...     for u in range(scores.size):
    ...         for v in range(scores.size):
    ...             if labels[u] > labels[v] >= 0:
    ...                 miss = max(0.0, margin - (scores[u] - scores[v]))
    ...                 total += miss**2
    ...                 gradient[u] -= 2 * miss
    ...                 gradient[v] += 2 * miss
    ...                 if miss > 0:
    ...                     curvature[u] += 2
    ...                     curvature[v] += 2
    ...     return total
    >>> data = pk.RankingDataset.from_arrays(None, [1, 0], qid=[1, 1])
    >>> squared_pairs(np.zeros(2), data), squared_pairs.replace(margin=2.0)(np.zeros(2), data)
    (1.0, 4.0)
    """
    if function is None:
        return lambda f: loss(f, name=name, smooth=smooth, convex=convex, shift_invariant=shift_invariant)
    needed, defaults = arguments_of(function, _NEEDED, _MORE)
    return declared(
        CustomLoss,
        function,
        name,
        smooth=smooth,
        convex=convex,
        shift_invariant=shift_invariant,
        curvature="surrogate" if "curvature" in needed else "none",
        defaults=defaults,
        drive=staticmethod(_driver(function, needed[3:])),
    )


def declared(kind: type[CustomLoss], function: Callable[..., Any], name: str | None, **attributes: Any) -> CustomLoss:
    """A loss of a class of its own, made from a user's function, known by its name in this process."""
    title = name or function.__name__
    if title in {item.name for item in items("loss")}:
        raise LossError(f"{title!r} is the name of a built-in loss; give yours another with loss(name=…)")
    # the decorated name refers to the object, so this is where pickle finds the class
    found_at = {"__module__": function.__module__, "__qualname__": f"{function.__qualname__}.__class__"}
    made = type(title, (kind,), {"name": title, "__doc__": function.__doc__, **found_at, **attributes})()
    REGISTERED[title] = made
    return made


def arguments_of(
    function: Callable[..., Any], required: tuple[str, ...], more: tuple[str, ...]
) -> tuple[tuple[str, ...], dict[str, float]]:
    """The arguments without a default, and the parameters with theirs; raises an error for an unsupported signature."""
    signature = inspect.signature(function)
    arguments = signature.parameters.values()
    needed = tuple(a.name for a in arguments if a.default is a.empty)
    plain = all(a.kind is a.POSITIONAL_OR_KEYWORD for a in arguments)
    if not plain or needed[: len(required)] != required or not set(needed) <= {*required, *more}:
        raise LossError(
            f"a loss is a function of ({', '.join(required)}{''.join(f'[, {name}]' for name in more)}, "
            f"parameter=default …), got {function.__name__}{signature}"
        )
    return needed, {a.name: _number(a.name, a.default) for a in arguments if a.default is not a.empty}


def _number(name: str, value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise LossError(f"parameter {name}={value!r} of a user's loss must be a number") from None


@dataclass(frozen=True, kw_only=True, repr=False)
class CustomLoss(Loss):
    """A loss made by the decorator `plackett.loss`."""

    #: The kernel that calls the function for each query, and the parameters of the function.
    drive: ClassVar[Callable[..., None]]
    defaults: ClassVar[dict[str, float]] = {}

    parameters: tuple[tuple[str, float], ...] = ()

    def replace(self, **parameters: Any) -> CustomLoss:
        """Copy with other parameters, by the names of the function's arguments."""
        unknown = set(parameters) - set(self.defaults)
        if unknown:
            known = ", ".join(self.defaults) or "none"
            raise LossError(f"{self.name} has no parameter {sorted(unknown)[0]!r}; it has {known}")
        given = {name: _number(name, value) for name, value in parameters.items()}
        return type(self)(parameters=tuple(sorted({**dict(self.parameters), **given}.items())))

    def bind(self, data: RankingDataset, *, n_jobs: int | None = None) -> BoundLoss:
        """The loss on one dataset."""
        return _Compiled(self, data, n_jobs)

    def __repr__(self) -> str:
        return f"{self.name}({', '.join(f'{key}={value!r}' for key, value in self.parameters)})"


class UnknownLoss(CustomLoss):
    """Placeholder for a user-defined loss that is not defined in this process: the model can predict but not train."""

    def __init__(self, name: str, parameters: dict[str, float]) -> None:
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "parameters", tuple(sorted(parameters.items())))

    def bind(self, data: RankingDataset, *, n_jobs: int | None = None) -> BoundLoss:
        """Raise an error: the loss is not defined."""
        raise LossError(f"the loss {self.name!r} is not defined here; import the module that defines it to train again")


class CustomBound(BoundLoss):
    """A user's own loss bound to one dataset."""

    def __init__(self, loss: CustomLoss, data: RankingDataset, n_jobs: int | None) -> None:
        super().__init__(data, n_jobs=n_jobs)
        self.loss = loss
        self.parameters = {**loss.defaults, **dict(loss.parameters)}

    def refuse_no_numbers(self, value: np.ndarray, gradient: np.ndarray, curvature: np.ndarray) -> None:
        """Raise an error for non-finite gradients. An infinite value is allowed: solvers handle it."""
        if np.isfinite(gradient.sum() + curvature.sum()) and not np.isnan(value.sum()):
            return
        query = self.data.query_of_row
        rows = ~(np.isfinite(gradient) & np.isfinite(curvature)) & ~np.isinf(value)[query]
        bad = np.isnan(value)
        bad[query[rows]] = True
        for q in np.flatnonzero(bad)[:1]:
            span = slice(self.data.offsets[q], self.data.offsets[q + 1])
            raise LossError(
                f"the loss {self.loss.name!r} gives value {value[q]:g}, gradient {gradient[span][:5]} … and curvature "
                f"{curvature[span][:5]} … for query {self.data.qids[q]} with labels {self.data.labels[span][:5]} …; "
                "all must be finite numbers. Look for a division by zero, or a logarithm or power out of range"
            )


class _Compiled(CustomBound):
    def evaluate(self, scores: np.ndarray, value: bool = True) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Loss per query, gradient and curvature per score."""
        from numba.core.errors import NumbaError, UnsupportedBytecodeError

        out = self.zeros()
        scores = scores.view()
        scores.flags.writeable = False  # as the labels are: a function that sorts them in place is refused
        try:
            over_queries(
                self.loss.drive,
                self.data.offsets,
                scores,
                self.data.labels,
                self.sample_weight,
                self.query_weight,
                tuple(self.parameters.values()),
                *out,
                n_jobs=self.n_jobs,
                rows_per_thread=PAIR_ROWS_PER_THREAD,
            )
        except (NumbaError, UnsupportedBytecodeError) as error:
            raise LossError(
                f"the loss {self.loss.name!r} cannot be compiled: {error}\n"
                "plackett.torch_loss makes a loss of a function in PyTorch"
            ) from error
        self.refuse_no_numbers(*out)
        return out


def _driver(plain: Callable[..., float], extra: tuple[str, ...]) -> Callable[..., None]:
    """Kernel that calls the function for each query with the arguments in its signature."""
    import numba

    function = numba.njit(nogil=True)(plain)
    calls = {
        (): lambda s, y, w, g, c, p: function(s, y, g, *p),
        ("curvature",): lambda s, y, w, g, c, p: function(s, y, g, c, *p),
        ("weights",): lambda s, y, w, g, c, p: function(s, y, g, w, *p),
        ("curvature", "weights"): lambda s, y, w, g, c, p: function(s, y, g, c, w, *p),
        ("weights", "curvature"): lambda s, y, w, g, c, p: function(s, y, g, w, c, *p),
    }
    call = numba.njit(nogil=True)(calls[extra])

    @numba.njit(nogil=True)
    def drive(lo, hi, offsets, scores, labels, weight, query_weight, parameters, value, gradient, curvature):  # type: ignore[no-untyped-def]
        for q in range(lo, hi):
            if offsets[q] == offsets[q + 1]:
                continue
            r = slice(offsets[q], offsets[q + 1])
            value[q] = query_weight[q] * call(scores[r], labels[r], weight[r], gradient[r], curvature[r], parameters)
            gradient[r] *= query_weight[q]
            curvature[r] *= query_weight[q]

    return drive
