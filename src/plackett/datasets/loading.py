"""Reading public datasets from the data folder."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from plackett._base.errors import DataError
from plackett.data.concat import concat
from plackett.data.fold_folder import PART_NAMES
from plackett.data.lazy_fold import LazyFold
from plackett.data.splits import Fold
from plackett.datasets.registry import DATASETS, DatasetInfo, info

if TYPE_CHECKING:
    import polars as pl

    from plackett.data.dataset import RankingDataset
    from plackett.datasets.collection import TextCollection

__all__ = ["available", "load"]

#: The collection that needs no files.
EMBEDDED = "pydocs"
_SUFFIXES = ("", ".gz", ".xz", ".zst", ".bz2")


def load(
    name: str,
    fold: int | None = None,
    part: str | None = None,
    *,
    variant: str | None = None,
    sparse: bool = False,
    root: str | os.PathLike[str] | None = None,
) -> Fold | RankingDataset | TextCollection:
    """Load a public dataset from files you already have, or the embedded collection; nothing is downloaded.

    Parameters
    ----------
    name
        A name of `available`, such as ``"mq2008"``, ``"ohsumed"`` (LETOR 3.0), ``"mslr-web10k"`` or
        ``"yahoo-set1"``. ``"pydocs"`` is made on the spot: the documentation of Python's standard library, with
        queries and judgements derived by a rule or, as ``variant="judged"``, judged by hand (by a second rater:
        ``"judged-again"``).
    fold
        1 to 5 for datasets with LETOR's five folds. Where the release has only the parts S1 to S5, they are
        combined into the folds.
    part
        ``"train"``, ``"valid"`` or ``"test"``; for sets with five folds also ``"S1"`` to ``"S5"``, without a fold.
    variant
        Version of the features, where the release has several: LETOR 3.0 has ``"QueryLevelNorm"`` (the default, used
        for published results), ``"Feature-min"`` and ``"Feature-null"``.
    sparse
        Keep the features as a CSR matrix.
    root
        Folder to look in, instead of the one named by the environment variable ``PLACKETT_DATA``.

    Returns
    -------
    With ``part``, a `RankingDataset`. Without it, a fold whose ``train``, ``valid`` and ``test`` are read when they are
    first used (``valid`` is None where the release has none). ``"pydocs"`` is a `TextCollection` with ``documents``,
    ``queries`` and ``judgements``.

    References
    ----------
    Qin, Liu, Xu, Li: LETOR: a benchmark collection for research on learning to rank for information retrieval.
    Information Retrieval 13, 2010.

    Examples
    --------
    >>> train, valid, test = load("mq2008", fold=1)  # doctest: +SKIP
    >>> load("ohsumed", fold=2, part="test", variant="Feature-null")  # doctest: +SKIP
    RankingDataset(21 queries, 2570 rows, 45 features, docids, comments)
    """
    if name == EMBEDDED:
        return _embedded(variant, fold=fold, part=part)
    dataset = info(name)
    files = _Files(dataset, variant, root)
    if part is not None and part.upper() in _pieces(dataset):
        return _read(files.piece(int(part[1:])), dataset, sparse)
    if part is not None and part not in PART_NAMES:
        choice = ", ".join([*map(repr, PART_NAMES), *map(repr, _pieces(dataset))])
        raise DataError(f"part is {part!r}; {dataset.name} has {choice}")
    if dataset.n_folds and fold not in range(1, dataset.n_folds + 1):
        raise DataError(
            f"{dataset.name} has {dataset.n_folds} folds: give fold=1 to fold={dataset.n_folds}, got {fold}"
        )
    if not dataset.n_folds and fold is not None:
        raise DataError(f"{dataset.name} has one fixed split; leave fold out (got {fold})")
    if part is None:
        return _FoldOnDisk({role: files.role(fold, role) for role in PART_NAMES}, dataset, sparse)
    paths = files.role(fold, part)
    if paths is None:
        raise DataError(f"{dataset.name} has no part {part!r}")
    return _read(paths, dataset, sparse)


def _embedded(variant: str | None, **refused: object) -> TextCollection:
    """The collection that comes with every Python."""
    from plackett.datasets.pydocs.build import VARIANTS

    for parameter, value in refused.items():
        if value is not None:
            raise DataError(f"{EMBEDDED} is a collection of documents; it has no {parameter} (got {value!r})")
    chosen = variant or next(iter(VARIANTS))
    if chosen not in VARIANTS:
        raise DataError(f"{EMBEDDED} has no variant {variant!r}; its variants: {', '.join(map(repr, VARIANTS))}")
    return VARIANTS[chosen]()


def available(root: str | os.PathLike[str] | None = None) -> pl.DataFrame:
    """List the datasets that `load` reads from files, with the folder in which each was found, or null.

    The embedded collection ``"pydocs"`` has no files and is not listed.

    >>> available().filter(name="mq2008").select("version", "queries", "documents", "features").row(0)
    ('LETOR 4.0', 784, 15211, 46)
    """
    import polars as pl

    rows = []
    for dataset in DATASETS.values():
        folders = _Files(dataset, None, root, required=False).folders()
        rows.append(
            {
                "name": dataset.name,
                "version": dataset.version,
                "corpus": dataset.corpus,
                "task": dataset.task,
                "queries": dataset.n_queries,
                "documents": dataset.n_rows,
                "features": dataset.n_features,
                "labels": list(dataset.labels),
                "folder": next((str(folder) for folder in folders if folder.is_dir()), None),
                "source": dataset.source,
            }
        )
    return pl.DataFrame(
        rows, schema_overrides={"documents": pl.Int64, "folder": pl.String, "labels": pl.List(pl.Int64)}
    )


class _FoldOnDisk(LazyFold):
    """A fold whose parts are read when they are first used."""

    def __init__(self, paths: dict[str, list[Path] | None], dataset: DatasetInfo, sparse: bool) -> None:
        self.__dict__.update(_paths=paths, _dataset=dataset, _sparse=sparse)  # the class is frozen

    def __repr__(self) -> str:
        return f"Fold({', '.join(f'{role}={_named(paths)}' for role, paths in self.__dict__['_paths'].items())})"

    def part(self, role: str) -> RankingDataset | None:
        """Read a part, or None where there is none."""
        paths = self.__dict__["_paths"][role]
        return None if paths is None else _read(paths, self.__dict__["_dataset"], self.__dict__["_sparse"])


def _named(paths: list[Path] | None) -> str:
    return "None" if paths is None else " + ".join(map(str, paths))


def _read(paths: list[Path], dataset: DatasetInfo, sparse: bool) -> RankingDataset:
    from plackett.data.letor import read_letor

    return concat([read_letor(path, n_features=dataset.n_features, sparse=sparse) for path in paths])


def _pieces(dataset: DatasetInfo) -> list[str]:
    return [f"S{i}" for i in range(1, dataset.n_folds + 1)]


class _Files:
    """Locations of the files of one dataset."""

    def __init__(
        self, dataset: DatasetInfo, variant: str | None, root: str | os.PathLike[str] | None, required: bool = True
    ) -> None:
        self.dataset = dataset
        if variant is not None and variant not in dataset.variants:
            known = ", ".join(map(repr, dataset.variants)) or "none"
            raise DataError(f"{dataset.name} has no variant {variant!r}; its variants: {known}")
        self.variant = variant or (dataset.variants[0] if dataset.variants else None)
        self.explicit = variant is not None
        named = root or os.environ.get("PLACKETT_DATA")
        if required and not named:
            raise DataError(
                f"where is {dataset.name}? Set the environment variable PLACKETT_DATA to the folder of your datasets, "
                f"or give root=. The dataset is available from {dataset.source}"
            )
        self.root = Path(named).expanduser() if named else None

    def folders(self) -> Iterator[Path]:
        """Folders to search; if each version has its own folder, those come first."""
        for folder in self.dataset.folders if self.root else ():
            base = self.root / folder  # type: ignore[operator]
            if self.variant:
                yield base / self.variant
                yield base.parent / self.variant / base.name
            if not self.explicit:
                yield base

    def role(self, fold: int | None, role: str) -> list[Path] | None:
        """Files of the training, validation or test part; None where the release has no such part."""
        if self.dataset.split and role not in self.dataset.split:
            return None
        names = [pattern.format(fold=fold, part=name) for pattern in self.dataset.files for name in PART_NAMES[role]]
        path = self._first(names)
        if path:
            return [path]
        if fold is not None:
            n = self.dataset.n_folds
            steps = {"train": range(n - 2), "valid": [n - 2], "test": [n - 1]}[role]
            pieces = [self._first([f"S{(fold - 1 + step) % n + 1}.txt"]) for step in steps]
            if all(pieces):
                return [piece for piece in pieces if piece]
        raise self._missing(names)

    def piece(self, number: int) -> list[Path]:
        """File of one of the parts S1 to S5, which is also the test part of the next fold."""
        fold = number % self.dataset.n_folds + 1
        names = [f"S{number}.txt", *(p.format(fold=fold, part="test") for p in self.dataset.files)]
        path = self._first(names)
        if path is None:
            raise self._missing(names)
        return [path]

    def _first(self, names: list[str]) -> Path | None:
        candidates = (folder / (name + suffix) for folder in self.folders() for name in names for suffix in _SUFFIXES)
        return next((path for path in candidates if path.is_file()), None)

    def _missing(self, names: list[str]) -> DataError:
        folders = "".join(f"\n  {folder}" for folder in self.folders())
        return DataError(
            f"{self.dataset.name} was not found: no file {' or '.join(names)} (also .gz, .xz, .zst, .bz2) in any of"
            f"{folders}\nIt is available from {self.dataset.source}"
        )
