"""Subgroups: descriptions of parts of a table where a target is unusual, ranked by what users find interesting.

    python examples/recipes/subgroups.py [TABLE TARGET]

prints the ten subgroups of a table (.csv) in which a column of ones and zeros differs most; without arguments, those of
a made-up table.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
import polars as pl

from plackett import DataError
from plackett.applications import CandidateLists, Features

#: Smaller differences of shares are raised to this value, so that their logarithm exists.
_LEAST_SHIFT = 1e-6
#: Subgroups and conditions looked at in one step.
_BLOCK = 4096


class Subgroup(NamedTuple):
    """Part of a table: the rows that meet all conditions."""

    #: Pairs of a column and its value or range.
    conditions: tuple[tuple[str, Any], ...]
    #: Number of rows, and share of them in the table.
    size: int
    share: float
    #: Share of the target among them, and in the whole table.
    target: float
    target_overall: float

    def __str__(self) -> str:
        rule = " and ".join(f"{name} = {value}" for name, value in self.conditions)
        return f"{rule}: {self.target:.0%} of {self.size:,} rows (overall {self.target_overall:.0%})"

    def quality(self, exponent: float = 0.5) -> float:
        r"""The classical :math:`|S|^a\,|p_S - p_0|` with the share of the rows for :math:`|S|`."""
        return float(self.share**exponent * abs(self.target - self.target_overall))


def find_subgroups(
    columns: Mapping[str, Any], target: Any, *, max_conditions: int = 2, min_size: int = 10, n_bins: int = 4
) -> list[Subgroup]:
    """All subgroups of up to ``max_conditions`` conditions that are large enough.

    Rows are bits, 64 to a word, so that a subgroup is counted by an intersection of words. A subgroup of fewer than
    ``min_size`` rows is not extended, as its parts are smaller still. One that has the rows of a subgroup with fewer
    conditions is left out.

    Parameters
    ----------
    columns
        Values of each column by name. A column of numbers with more than ``n_bins`` distinct values is cut at its
        quantiles.
    target
        Whether each row has the property in question.
    max_conditions
        Maximum number of conditions of a subgroup; each is on a different column.
    min_size
        Minimum number of rows.
    n_bins
        Ranges that a column of numbers is cut into.

    Examples
    --------
    >>> columns = {"sex": ["f", "m"] * 50, "age": np.arange(100)}
    >>> groups = find_subgroups(columns, (np.arange(100) >= 75) & (np.arange(100) % 2 == 0))
    >>> print(max(groups, key=Subgroup.quality))
    sex = f and age = [75, 99]: 100% of 12 rows (overall 12%)
    """
    y = np.asarray(target)
    if y.ndim != 1 or not np.isin(y, [0, 1]).all():
        raise DataError("the target must be an array of True and False, or of 1 and 0")
    if max_conditions < 1 or min_size < 1 or n_bins < 2:
        raise DataError(
            f"max_conditions={max_conditions}, min_size={min_size}, n_bins={n_bins}; give at least 1, 1 and 2"
        )
    if not columns:
        raise DataError("there are no columns")
    names: list[tuple[str, Any]] = []
    column_of, masks = [], []
    for number, (name, values) in enumerate(columns.items()):
        values = np.asarray(values)
        if values.shape != y.shape:
            raise DataError(f"column {name!r} has shape {values.shape}, and the target {y.shape}")
        for value, mask in _conditions(values, n_bins):
            names.append((name, value))
            column_of.append(number)
            masks.append(_packed(mask))
    if not masks:
        return []
    bits, own, hits = np.array(masks), np.array(column_of), _packed(y.astype(bool))
    overall = float(y.mean()) if y.size else 0.0
    subgroups: list[Subgroup] = []
    parents: list[tuple[int, ...]] = [()]
    parent_bits = np.full((1, bits.shape[1]), ~np.uint64(0))
    parent_sizes = np.array([y.size])
    size_of: dict[tuple[int, ...], int] = {}
    for _ in range(max_conditions):
        rules, kept, sizes = [], [], []
        for parent, rows, before in zip(parents, parent_bits, parent_sizes.tolist(), strict=True):
            later = np.flatnonzero(own > (own[parent[-1]] if parent else -1))
            for start in range(0, later.size, _BLOCK):
                some = later[start : start + _BLOCK]
                both = bits[some] & rows
                count = np.bitwise_count(both).sum(axis=1, dtype=np.int64)
                good = np.flatnonzero((count >= min_size) & (count < before))
                good = good[[_smaller(parent, int(some[i]), int(count[i]), size_of) for i in good]]
                right = np.bitwise_count(both[good] & hits).sum(axis=1, dtype=np.int64)
                for i, c, r in zip(good.tolist(), count[good].tolist(), right.tolist(), strict=True):
                    rule = (*parent, int(some[i]))
                    subgroups.append(Subgroup(tuple(names[j] for j in rule), c, c / y.size, r / c, overall))
                    rules.append(rule)
                    sizes.append(c)
                    size_of[rule] = c
                kept.append(both[good])
        if not rules:
            break
        parents, parent_bits, parent_sizes = rules, np.concatenate(kept), np.array(sizes)
    return subgroups


def _smaller(parent: tuple[int, ...], condition: int, count: int, size_of: Mapping[tuple[int, ...], int]) -> bool:
    """Whether every subgroup without one condition of the parent has more rows; one that was left out does not."""
    return all(size_of.get((*parent[:i], *parent[i + 1 :], condition), 0) > count for i in range(len(parent)))


def _conditions(values: np.ndarray, n_bins: int) -> list[tuple[Any, np.ndarray]]:
    """Values, or ranges of numbers, with the rows that have them; missing values match none."""
    if values.dtype.kind == "O":
        missing = np.array([value is None or value != value for value in values.tolist()], bool)
        kinds = {type(value) for value in values[~missing].tolist()}
        if not kinds <= {int, float}:
            known = sorted(set(values[~missing].tolist()), key=lambda value: (type(value).__name__, str(value)))
            return [(value, np.array([other == value for other in values.tolist()], bool)) for value in known]
        values = np.where(missing, np.nan, values).astype(np.float64)
    missing = np.isnan(values) if values.dtype.kind == "f" else np.zeros(values.shape, bool)
    distinct = np.unique(values[~missing])
    if values.dtype.kind not in "iuf" or distinct.size <= n_bins:
        return [(value, values == value) for value in distinct.tolist()]
    with np.errstate(invalid="ignore"):  # infinite values
        cuts = np.unique(np.quantile(values[~missing], np.linspace(0, 1, n_bins + 1)[1:-1]))
    cuts = cuts[~np.isnan(cuts)]
    part = np.searchsorted(cuts, values, side="right")
    part[missing] = -1
    result = []
    for number in range(cuts.size + 1):
        mask = part == number
        if mask.any():
            form = "d" if values.dtype.kind in "iu" else "g"
            result.append((f"[{values[mask].min():{form}}, {values[mask].max():{form}}]", mask))
    return result


def _packed(mask: np.ndarray) -> np.ndarray:
    octets = np.packbits(mask)
    return np.pad(octets, (0, -octets.size % 8)).view(np.uint64)


class SubgroupFeatures(Features):
    r"""Features of a subgroup, for a ranker that learns from a user which ones are interesting.

    Logarithms of the share of the rows and of the difference of the target's share, so that the score of a linear
    ranker, :math:`w_1\log|S| + w_2\log|p_S - p_0| + \dots`, orders as the classical quality
    :math:`|S|^a\,|p_S - p_0|` with :math:`a = w_1/w_2` (see `size_exponent`); whether the target is more frequent than
    overall; and the number of conditions.

    Examples
    --------
    >>> groups = [Subgroup((("sex", "f"),), 50, 0.5, 0.2, 0.1), Subgroup((("sex", "m"),), 50, 0.5, 0.0, 0.1)]
    >>> SubgroupFeatures().transform(CandidateLists.of([("", groups)])).X[:, 2:].tolist()
    [[1.0, 1.0], [0.0, 1.0]]
    """

    names: ClassVar[tuple[str, ...]] = ("log share", "log shift", "more frequent", "conditions")

    def matrix(self, lists: CandidateLists) -> np.ndarray:
        """A row of numbers for each subgroup."""
        groups: Sequence[Subgroup] = lists.items
        share = np.array([group.share for group in groups])
        shift = np.array([group.target - group.target_overall for group in groups])
        size = np.array([len(group.conditions) for group in groups], np.float64)
        shifts = np.log(np.maximum(np.abs(shift), _LEAST_SHIFT))
        return np.column_stack([np.log(share), shifts, shift > 0, size]).reshape(len(groups), 4)


def size_exponent(coefficients: Any) -> float:
    """The exponent of the size in the quality that a linear ranker on `SubgroupFeatures` learned.

    >>> size_exponent([0.6, 1.2, 0.0, 0.0])
    0.5
    """
    share, shift, *_ = np.asarray(coefficients, np.float64).ravel()
    if shift <= 0:
        raise DataError("the ranker does not prefer larger differences; there is no such exponent")
    return float(share / shift)


def _made_up() -> tuple[dict[str, np.ndarray], np.ndarray]:
    rng = np.random.default_rng(0)
    table = {"region": rng.choice(["north", "south", "east"], 600), "age": rng.integers(18, 80, 600)}
    return table, rng.random(600) < np.where((table["region"] == "north") & (table["age"] < 33), 0.6, 0.15)


def main() -> None:
    """Print the ten best subgroups of a table."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("table", nargs="?", help="a .csv file with a header")
    parser.add_argument("target", nargs="?", help="the column in question, of ones and zeros")
    given = parser.parse_args()
    columns, target = _made_up()
    if given.table:
        frame = pl.read_csv(given.table)
        if given.target not in frame.columns:
            parser.error(f"{given.target!r} is not a column; there are {', '.join(frame.columns)}")
        target = frame[given.target].to_numpy()
        columns = {name: frame[name].to_numpy() for name in frame.columns if name != given.target}
    for group in sorted(find_subgroups(columns, target), key=Subgroup.quality, reverse=True)[:10]:
        print(group)


if __name__ == "__main__":
    main()
