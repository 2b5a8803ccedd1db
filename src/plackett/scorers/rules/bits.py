"""Sets of documents as bits of 64-bit words."""

from __future__ import annotations

import numpy as np

from plackett._kernels.kernel import kernel


@kernel(inline=True)
def lowest_bit(word):
    """Index of the lowest bit that is set, by bisection; the word must not be 0."""
    low = word & (~word + np.uint64(1))
    position = 0
    if not low & np.uint64(0xFFFFFFFF):
        position += 32
    if not low & np.uint64(0x0000FFFF0000FFFF):
        position += 16
    if not low & np.uint64(0x00FF00FF00FF00FF):
        position += 8
    if not low & np.uint64(0x0F0F0F0F0F0F0F0F):
        position += 4
    if not low & np.uint64(0x3333333333333333):
        position += 2
    if not low & np.uint64(0x5555555555555555):
        position += 1
    return position


@kernel(inline=True)
def count_bits(word):
    """Number of bits that are set; compilers recognise this form and use the processor's instruction."""
    word -= (word >> np.uint64(1)) & np.uint64(0x5555555555555555)
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))
