"""The link graph: who links to whom, as two compressed tables of node numbers."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from plackett._base.cached import cached_property
from plackett._base.errors import DataError, reading
from plackett._files.checks import check_regular
from plackett._files.parquet import parquet_frame
from plackett._kernels.kernel import kernel, over_queries

if TYPE_CHECKING:
    import scipy.sparse as sp

__all__ = ["LinkGraph", "read_links"]

#: Number of edges that justifies another thread.
_EDGES_PER_THREAD = 200_000


class LinkGraph:
    """A directed graph of pages with weighted links.

    Parameters
    ----------
    matrix
        Square SciPy sparse matrix; entry (u, v) is the weight of the link from u to v. Weights are positive.
    names
        Name of each node, such as its URL or document id; by default its number.

    Attributes
    ----------
    out, into
        Links by source and by target, as CSR matrices.
    out_weight
        Sum of the weights of each node's outgoing links.
    dangling
        Whether a node has no outgoing links.

    Examples
    --------
    >>> graph = LinkGraph.from_edges([("a", "b"), ("a", "c"), ("c", "a")])
    >>> graph.n_nodes, graph.n_links, graph.dangling.tolist()
    (3, 3, [False, True, False])
    """

    def __init__(self, matrix: Any, names: Iterable[Any] | None = None) -> None:
        import scipy.sparse as sp

        self.out: sp.csr_array = sp.csr_array(matrix)
        if self.out.shape[0] != self.out.shape[1]:
            raise DataError(f"the matrix has shape {self.out.shape}; a row and a column per node are needed")
        self.out.sum_duplicates()
        if self.out.nnz and not (np.isfinite(self.out.data).all() and self.out.data.min() > 0):
            raise DataError("link weights must be positive and finite; leave out links of weight 0")
        self.names: list[Any] = list(range(self.n_nodes)) if names is None else list(names)
        if len(self.names) != self.n_nodes:
            raise DataError(f"{len(self.names)} names for {self.n_nodes} nodes")

    @classmethod
    def from_edges(cls, edges: Any, names: Iterable[Any] | None = None, *, self_links: bool = True) -> LinkGraph:
        """From pairs (source, target) of names, numbered in the order in which they appear.

        Parameters
        ----------
        edges
            Pairs, or triples with a weight. Links that occur more than once are one link of weight 1, or add up
            their weights if weights are given.
        names
            All nodes in the order of their numbers, to keep those without links.
        self_links
            Whether links from a page to itself count.
        """
        rows = list(edges)
        number: dict[Any, int] = {name: i for i, name in enumerate(names)} if names is not None else {}
        fixed = names is not None
        source, target = np.empty(len(rows), np.int64), np.empty(len(rows), np.int64)
        for i, row in enumerate(rows):
            for column, name in ((source, row[0]), (target, row[1])):
                if fixed and name not in number:
                    raise DataError(f"edge {i + 1}: node {name!r} is not among the names")
                column[i] = number.setdefault(name, len(number))
        weighted = bool(rows) and len(rows[0]) > 2
        weights = np.array([float(row[2]) for row in rows]) if weighted else None
        return cls.from_arrays(source, target, len(number), weights=weights, names=number, self_links=self_links)

    @classmethod
    def from_arrays(
        cls,
        source: Any,
        target: Any,
        n_nodes: int | None = None,
        *,
        weights: Any = None,
        names: Iterable[Any] | None = None,
        self_links: bool = True,
    ) -> LinkGraph:
        """From two arrays of node numbers. See `from_edges` for links that occur more than once."""
        import scipy.sparse as sp

        source, target = np.asarray(source), np.asarray(target)
        if source.shape != target.shape or source.ndim != 1:
            raise DataError(f"sources have shape {source.shape}, targets {target.shape}; give two flat arrays")
        top = int(max(source.max(), target.max())) + 1 if source.size else 0
        n = top if n_nodes is None else n_nodes
        if source.size and (top > n or min(source.min(), target.min()) < 0):
            raise DataError(f"node numbers must be between 0 and {n - 1}")
        source, target = source.astype(np.int32, copy=False), target.astype(np.int32, copy=False)
        data = np.ones(source.size) if weights is None else np.asarray(weights, np.float64)
        if not self_links:
            keep = source != target
            source, target, data = source[keep], target[keep], data[keep]
        matrix = sp.coo_array((data, (source, target)), (n, n)).tocsr()
        if weights is None:
            matrix.data[:] = 1.0
        return cls(matrix, names)

    @property
    def n_nodes(self) -> int:
        """Number of pages."""
        return int(self.out.shape[0])

    @property
    def n_links(self) -> int:
        """Number of links."""
        return int(self.out.nnz)

    @cached_property
    def into(self) -> sp.csr_array:
        """Links by target."""
        return self.out.T.tocsr()

    @cached_property
    def out_weight(self) -> np.ndarray:
        """Sum of the weights of each node's outgoing links."""
        return np.asarray(self.out.sum(axis=1), np.float64).ravel()

    @cached_property
    def dangling(self) -> np.ndarray:
        """Whether a node has no outgoing links."""
        return np.diff(self.out.indptr) == 0

    @cached_property
    def unweighted(self) -> bool:
        """Whether all links weigh 1: a step of a walk then needs no table of weights."""
        return bool(self.n_links == 0 or (self.out.data == 1.0).all())

    def reverse(self) -> LinkGraph:
        """The same nodes with every link turned around."""
        return LinkGraph(self.into, self.names)

    def subgraph(self, nodes: Any) -> LinkGraph:
        """The given nodes, by number, and the links among them."""
        chosen = np.asarray(nodes)
        return LinkGraph(self.out[chosen][:, chosen], [self.names[i] for i in chosen])

    def reweighted(self, weights: np.ndarray) -> LinkGraph:
        """The same links with new weights, in the order of ``out.data``; links of weight 0 are removed."""
        import scipy.sparse as sp

        matrix = sp.csr_array((np.asarray(weights, np.float64), self.out.indices, self.out.indptr), self.out.shape)
        matrix = matrix.copy()
        matrix.eliminate_zeros()
        return LinkGraph(matrix, self.names)

    def follow(self, mass: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
        """One step along the links: each node's mass goes to its targets in proportion to the weights.

        The mass of dangling nodes is lost here. Works on a vector or on a table with a row per node.
        """
        scale = np.divide(1.0, self.out_weight, out=np.zeros(self.n_nodes), where=~self.dangling)
        return self.collect(mass * (scale if mass.ndim == 1 else scale[:, None]), n_jobs)

    def collect(self, value: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
        """Weighted sum of the values of the nodes that link to each node."""
        return _product(self.into, value, self.unweighted, n_jobs)

    def collect_out(self, value: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
        """Weighted sum of the values of the nodes that each node links to."""
        return _product(self.out, value, self.unweighted, n_jobs)

    def __repr__(self) -> str:
        return f"LinkGraph({self.n_nodes} nodes, {self.n_links} links, {int(self.dangling.sum())} dangling)"


def _product(matrix: sp.csr_array, value: np.ndarray, unweighted: bool, n_jobs: int | None) -> np.ndarray:
    if value.ndim == 2:
        return matrix @ value
    out = np.empty(matrix.shape[0])
    weights = np.empty(0) if unweighted else matrix.data
    given = np.ascontiguousarray(value, np.float64)
    over_queries(
        _sums, matrix.indptr, matrix.indices, weights, given, out, n_jobs=n_jobs, rows_per_thread=_EDGES_PER_THREAD
    )
    return out


@kernel
def _sums(lo, hi, indptr, indices, weights, value, out):  # type: ignore[no-untyped-def]
    """Rows of a sparse matrix times a vector; without weights every entry is 1."""
    if weights.size == 0:
        for i in range(lo, hi):
            total = 0.0
            for e in range(indptr[i], indptr[i + 1]):
                total += value[indices[e]]
            out[i] = total
    else:
        for i in range(lo, hi):
            total = 0.0
            for e in range(indptr[i], indptr[i + 1]):
                total += weights[e] * value[indices[e]]
            out[i] = total


def read_links(path: Any, *, self_links: bool = True, names: Iterable[Any] | None = None) -> LinkGraph:
    r"""Read links from a text file, CSV or parquet: source, target and perhaps a weight per line.

    Parameters
    ----------
    path
        A text file with blanks, tabs or commas between the columns (lines that begin with ``#`` are comments; ``.gz``,
        ``.xz``, ``.zst`` are unpacked), or a parquet file whose first two columns are source and target.
    self_links
        Whether links from a page to itself count.
    names
        All nodes, in the order of their numbers; by default those in the file, in the order in which they appear.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "links.tsv"
    >>> _ = file.write_text("# from to\na\tb\nb\ta\n")
    >>> read_links(file)
    LinkGraph(2 nodes, 2 links, 0 dangling)
    """
    import polars as pl

    path = Path(path)
    check_regular(path, pipes=path.suffix != ".parquet")
    if path.suffix == ".parquet":
        with reading(path, "the table of links"):
            frame = parquet_frame(path)
    else:
        frame = _text_links(path)
    if frame.width < 2:
        raise DataError(f"{path}: {frame.width} columns; a source and a target per line are needed")
    source, target = frame.to_series(0).cast(pl.String), frame.to_series(1).cast(pl.String)
    if source.null_count() or target.null_count():
        line = int((source.is_null() | target.is_null()).arg_max() or 0) + 1
        raise DataError(f"{path}: link {line} has no {'source' if source[line - 1] is None else 'target'}")
    known = pl.Series([str(name) for name in names], dtype=pl.String) if names is not None else None
    pairs = pl.DataFrame({"u": source, "v": target})
    if known is None:  # in reading order: source before target
        known = pairs.select(pl.concat_list("u", "v").explode().unique(maintain_order=True)).to_series()
    number = pl.DataFrame({"name": known, "n": np.arange(len(known), dtype=np.int32)})
    columns = []
    for side in ("u", "v"):
        joined = pairs.select(side).join(number, left_on=side, right_on="name", how="left", maintain_order="left")
        numbers = joined["n"]
        if numbers.null_count():
            line = int(numbers.is_null().arg_max() or 0) + 1
            raise DataError(f"{path}: link {line}: node {joined[side][line - 1]!r} is not among the names")
        columns.append(numbers.to_numpy())
    weights = None
    if frame.width > 2:
        given = frame.to_series(2).cast(pl.Float64, strict=False)
        if given.null_count() or not bool((given > 0).all()):
            line = int((given.is_null() | ~(given > 0)).arg_max() or 0) + 1
            raise DataError(f"{path}: link {line}: weight {frame.to_series(2)[line - 1]!r}; give a positive number")
        weights = given.to_numpy()
    ends = columns[0], columns[1]
    return LinkGraph.from_arrays(*ends, len(known), weights=weights, names=known.to_list(), self_links=self_links)


def _text_links(path: Path) -> Any:
    """Columns of a text file; the separator is found in its first line with content."""
    import polars as pl

    from plackett._files.compression import pieces

    data = b"".join(pieces(str(path)))
    lines = (line for line in data.split(b"\n", 1000) if line.strip() and not line.startswith(b"#"))
    first = next(lines, b"").rstrip(b"\r")
    separator = "\t" if b"\t" in first else "," if b"," in first else " "
    if not first:
        return pl.DataFrame({"u": [], "v": []}, schema={"u": pl.String, "v": pl.String})
    with reading(path, "the table of links"):
        return pl.read_csv(
            data,
            has_header=False,
            separator=separator,
            comment_prefix="#",
            infer_schema=False,
            quote_char='"' if separator == "," else None,
        )
