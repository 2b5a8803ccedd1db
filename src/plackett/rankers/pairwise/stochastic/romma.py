"""Relaxed online maximum margin: the shortest weights that satisfy the example and a half-space of the old ones."""

from __future__ import annotations

from plackett._kernels.kernel import kernel


@kernel(inline=True)
def step(product, margin, square, norm, rate, settings):
    """The least |w'| with w'·x ≥ margin and w'·w ≥ |w|², where the margin is not reached (aggressive ROMMA)."""
    if product >= margin or square == 0.0:
        return 1.0, 0.0
    area = square * norm - product * product
    if area <= 1e-12 * square * norm:  # parallel: the example alone decides
        return 0.0, margin / square
    return (square * norm - margin * product) / area, norm * (margin - product) / area
