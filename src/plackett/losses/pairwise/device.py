"""All pairs of tables of lists, as an accelerator forms them."""

from __future__ import annotations

from typing import Any

#: Largest number of pairs at once; it bounds the memory to some 400 MB.
MOST_PAIRS = 1 << 25


def pair_gradient(
    loss: Any,
    torch: Any,
    scores: Any,
    level: Any,
    weight: Any = None,
    *,
    most_pairs: int = MOST_PAIRS,
    graded: bool = False,
) -> Any:
    """Gradient of a pair loss for a table of scores (lists × slots): documents of a higher level are preferred.

    Documents whose level is NaN are ignored. Long lists are compared one band of slots at a time. With ``graded`` a
    pair weighs the difference of its levels.
    """
    lists, length = scores.shape
    band = max(1, most_pairs // max(1, lists * length))
    gradient = None
    for start in range(0, length, band):
        some = slice(start, start + band)
        apart = scores[:, some, None] - scores[:, None, :]
        if loss.margin:
            apart -= loss.margin
        slope = loss.device_slope(torch, apart, *loss.shape)
        if graded:
            above = level[:, some, None] - level[:, None, :]
            slope *= above.nan_to_num_(0.0).clamp_(min=0.0)
        else:
            slope *= level[:, some, None] > level[:, None, :]  # never where one of them is NaN
        if weight is not None:
            slope *= weight[:, some, None] * weight[:, None, :]
        if band >= length:
            return slope.sum(2) - slope.sum(1)
        gradient = torch.zeros_like(scores) if gradient is None else gradient
        gradient[:, some] += slope.sum(2)
        gradient -= slope.sum(1)
    return gradient
