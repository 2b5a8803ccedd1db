"""A user's own loss in PyTorch, whose gradient is derived automatically."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.errors import LossError
from plackett._names.optional import optional
from plackett.data.dataset import RankingDataset
from plackett.losses.base import BoundLoss
from plackett.losses.custom import CustomBound, CustomLoss, arguments_of, declared

__all__ = ["torch_loss"]

_NEEDED, _MORE = ("scores", "labels"), ("weights", "mask")

#: Largest number of pairs of slots in padded tables: the function may compare all documents of a list.
_MOST_PAIRS = 1 << 18


def torch_loss(
    function: Callable[..., Any] | None = None,
    *,
    name: str | None = None,
    smooth: bool = True,
    convex: bool = False,
    shift_invariant: bool = True,
) -> Any:
    """Turn a function in PyTorch into a loss that every model can minimise; autograd derives its gradient.

    The function takes ``scores`` and ``labels`` of one query, tensors of float64 on the CPU, and returns the value: a
    tensor with one number. The optional argument ``weights``, by name, has the sample weights, which are ignored
    otherwise. Arguments with a default are numeric parameters of the loss. Values are multiplied by the query's weight.
    Documents with a label below 0 are unjudged; the function decides what that means.

    With the optional argument ``mask`` it takes many queries at once, which is faster: all its arguments are tables
    (queries × slots), ``mask`` is True where there is a document, and the result has one number per query. At empty
    slots the score is 0, the label -1 and the weight 0, and no gradient comes from them.

    There is no curvature, so Newton steps (of trees, for example) use 1. A loss for `loss`, in compiled loops with a
    gradient written out, can have one, needs no PyTorch and is faster on short lists.

    Parameters
    ----------
    name
        Name of the loss; the function's own by default.
    smooth, convex, shift_invariant
        Properties of the loss, used to choose a solver; see `plackett.losses.Loss`.

    Examples
    --------
    >>> import numpy as np
    >>> import plackett as pk
    >>> @pk.torch_loss(convex=True)
    ... def softmax_of_gains(scores, labels, temperature=1.0):
    ...     import torch
    ...     gains = (2.0**labels - 1.0) * (labels >= 0)
    ...     return -(gains * torch.log_softmax(scores / temperature, 0)).sum()
    >>> data = pk.RankingDataset.from_arrays(None, [1, 0], qid=[1, 1])
    >>> softmax_of_gains(np.zeros(2), data).__round__(4), softmax_of_gains.gradient(np.zeros(2), data)[0].tolist()
    (0.6931, [-0.5, 0.5])
    """
    if function is None:
        return lambda f: torch_loss(f, name=name, smooth=smooth, convex=convex, shift_invariant=shift_invariant)
    needed, defaults = arguments_of(function, _NEEDED, _MORE)
    return declared(
        TorchLoss,
        function,
        name,
        smooth=smooth,
        convex=convex,
        shift_invariant=shift_invariant,
        curvature="none",
        defaults=defaults,
        formula=staticmethod(function),
        needed=needed,
    )


@dataclass(frozen=True, kw_only=True, repr=False)
class TorchLoss(CustomLoss):
    """A loss made by the decorator `plackett.torch_loss`."""

    #: The user's function, and the names of its arguments without a default.
    formula: ClassVar[Callable[..., Any]]
    needed: ClassVar[tuple[str, ...]]

    def bind(self, data: RankingDataset, *, n_jobs: int | None = None) -> BoundLoss:
        """The loss on one dataset."""
        return (_Padded if "mask" in self.needed else _ByQuery)(self, data, n_jobs)


class _Differentiated(CustomBound):
    """Base of the two forms: by query, and in padded tables."""

    loss: TorchLoss

    def __init__(self, loss: TorchLoss, data: RankingDataset, n_jobs: int | None) -> None:
        super().__init__(loss, data, n_jobs)
        self.torch = optional("torch", "losses in PyTorch need")
        self.filled = np.flatnonzero(data.group)

    def evaluate(self, scores: np.ndarray, value: bool = True) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Loss per query, gradient per score, and zeros: autograd gives no curvature."""
        out = self.zeros()
        with self.torch.inference_mode(False), self.torch.enable_grad():
            variable = self.torch.tensor(scores, requires_grad=True)
            for queries, values in self._values(variable):
                weight = self.query_weight[queries]
                out.value[queries] = weight * values.detach().numpy()
                out.gradient[...] += self._slopes(variable, values, weight)
        self.refuse_no_numbers(*out)
        return out

    def _values(self, scores: Any) -> Any:
        """Pairs of query numbers and a tensor of their values."""
        raise NotImplementedError

    def _called(self, shape: tuple[int, ...], **given: Any) -> Any:
        """What the function returns, checked to be of this shape."""
        arguments = [given[name] for name in self.loss.needed]
        found = self.torch.as_tensor(self.loss.formula(*arguments, **self.parameters))
        if found.numel() != math.prod(shape):
            wanted = f"one number for each of the {shape[0]} queries" if shape else "one number"
            raise LossError(
                f"the loss {self.loss.name!r} returns a tensor of shape {tuple(found.shape)} for scores of shape "
                f"{tuple(given['scores'].shape)}; return {wanted}"
            )
        return found.reshape(shape)

    def _slopes(self, variable: Any, values: Any, weight: np.ndarray) -> Any:
        slopes = None
        if values.requires_grad:
            total = (values * self.torch.tensor(weight)).sum()
            slopes = self.torch.autograd.grad(total, variable, allow_unused=True)[0]
        if slopes is None:
            if values.detach().any():
                raise LossError(
                    f"the loss {self.loss.name!r} has a value without a gradient: it does not depend on the scores in "
                    "a way that PyTorch can follow. Look for detach(), item(), NumPy, comparisons or sorting on "
                    "the way from the scores to the value"
                )
            return 0.0
        return slopes.numpy()


class _ByQuery(_Differentiated):
    """One call of the function per query."""

    def _values(self, scores: Any) -> Any:
        sizes = self.data.group[self.filled].tolist()
        tensors = (scores, self.torch.tensor(self.data.labels), self.torch.tensor(self.sample_weight))
        parts = zip(*(tensor.split(sizes) for tensor in tensors), strict=True)
        values = [self._called((), scores=s, labels=y, weights=w) for s, y, w in parts]
        if values:
            yield self.filled, self.torch.stack([one.to(self.torch.float64) for one in values])


class _Padded(_Differentiated):
    """One call for many queries of similar length, in tables."""

    def _values(self, scores: Any) -> Any:
        group, offsets = self.data.group, self.data.offsets
        queries = self.filled[np.argsort(group[self.filled], kind="stable")]
        while queries.size:
            pairs = np.arange(1, queries.size + 1) * group[queries] ** 2
            block, queries = np.split(queries, [max(1, int(np.searchsorted(pairs, _MOST_PAIRS, "right")))])
            mask = np.arange(group[block[-1]]) < group[block][:, None]
            rows = np.where(mask, offsets[block][:, None] + np.arange(mask.shape[1]), offsets[block][:, None])
            there = self.torch.from_numpy(mask)
            yield (
                block,
                self._called(
                    (block.size,),
                    scores=scores[self.torch.from_numpy(rows)].masked_fill(~there, 0.0),
                    labels=self.torch.tensor(np.where(mask, self.data.labels[rows], -1.0)),
                    weights=self.torch.tensor(np.where(mask, self.sample_weight[rows], 0.0)),
                    mask=there,
                ),
            )
