"""Open what the command line names: an index, runs, or a dataset."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from plackett._base.errors import DataError
from plackett.workbench.sources.base import WorkbenchSource


def open_source(paths: Sequence[str], rankers: Sequence[str] = (), features: str | None = None) -> WorkbenchSource:
    """A source from paths: one folder of an index, a saved pipeline or a saved application, TREC runs, or one dataset.

    Without a path, the documentation of Python's standard library.
    """
    source = _opened([Path(path) for path in paths], features)
    for ranker in rankers:
        source.add(ranker)
    source.complete()
    return source


def _opened(paths: list[Path], features: str | None) -> WorkbenchSource:
    if not paths:
        return _pydocs(features)
    for path in paths:
        if not path.exists():
            raise DataError(f"{path}: no such file or folder")
    if paths[0].is_dir():
        if len(paths) > 1:
            raise DataError("give one index, several runs, or one dataset")
        return _folder(paths[0], features)
    if _is_run(paths[0]):
        from plackett.workbench.sources.runs import RunsSource

        source = RunsSource(", ".join(path.name for path in paths))
        for path in paths:
            source.add(str(path))
        return source
    if len(paths) > 1:
        raise DataError(f"{paths[0]} is not a TREC run; give one index, several runs, or one dataset")
    from plackett.data.files import read
    from plackett.workbench.sources.dataset import DatasetSource

    return DatasetSource(read(paths[0]), paths[0].name)


def _folder(path: Path, features: str | None) -> WorkbenchSource:
    from plackett.text.index.index import Index
    from plackett.text.pipeline import FILE, SearchPipeline
    from plackett.workbench.columns.pipeline import PipelineColumn
    from plackett.workbench.sources.index import IndexSource

    if (path / "application.json").is_file():
        from plackett.workbench.sources.application import ApplicationSource

        return ApplicationSource(path)
    declared = _declarations(features)
    if (path / FILE).is_file():
        pipeline = SearchPipeline.load(path)
        own = declared
        if own is None and pipeline.features is not None:
            own = pipeline.features.features
        source = IndexSource(pipeline.index, path.name, own)
        source.put(PipelineColumn(path.name, pipeline))
        return source
    return IndexSource(Index.open(path), path.name, declared)


def _declarations(features: str | None) -> list[Any] | None:
    if features is None:
        return None
    from plackett.text.features.declaration import SETS, features_of_file

    return [features] if features in SETS else features_of_file(features)


def _pydocs(features: str | None) -> WorkbenchSource:
    from plackett.datasets.loading import load
    from plackett.workbench.sources.index import IndexSource

    collection: Any = load("pydocs", variant="judged")
    source = IndexSource(collection.index(), "Python's standard library", _declarations(features))
    source.queries, source.labels = dict(collection.queries), dict(collection.judgements)
    source.grades = ("neither", "related", "part or detour", "answers")
    return source


def _is_run(path: Path) -> bool:
    """Whether the first line of a file is one of a TREC run: query, Q0, document, rank, score."""
    from plackett._files.compression import pieces

    if path.suffix in (".plackett", ".parquet", ".csv", ".tsv"):
        return False
    start = next(iter(pieces(str(path))), b"")[:4096].decode("utf-8", "replace")
    lines = [line for line in start.splitlines() if line.strip() and not line.startswith("#")]
    fields = lines[0].split() if lines else []
    if len(fields) not in (5, 6) or ":" in fields[1]:
        return False
    try:
        return bool(fields[3].lstrip("-").isdigit()) and float(fields[4]) == float(fields[4])
    except ValueError:
        return False
