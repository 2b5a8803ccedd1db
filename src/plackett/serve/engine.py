"""A search engine, ready to answer what comes over the wire."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plackett._base.errors import DataError

if TYPE_CHECKING:
    from plackett.text.pipeline import SearchPipeline


class ServedEngine:
    """A search pipeline under a name.

    Parameters
    ----------
    pipeline
        Index, features and ranker.
    name, version
        What requests call it; the version is the same for all engines.
    path
        The file with the pipeline's settings.
    threads
        Threads that the ranker may use.
    """

    def __init__(
        self, pipeline: SearchPipeline, name: str, version: str, *, path: Path | None = None, threads: int = 1
    ) -> None:
        self.pipeline, self.name, self.version, self.path = pipeline, name, version, path
        self.loaded_at = time.time()
        if pipeline.ranker is not None:
            pipeline.ranker.n_jobs = threads

    @classmethod
    def load(cls, path: Path, name: str, version: str, threads: int) -> ServedEngine:
        """The engine of a saved pipeline, given its settings."""
        from plackett.text.pipeline import SearchPipeline

        return cls(SearchPipeline.load(path.parent), name, version, path=path.resolve(), threads=threads)

    def explain(self, hits: list[Any]) -> list[list[dict[str, Any]]]:
        """Why documents that were found are where they are; see `plackett.explanations.hits.explain_hits`."""
        from plackett.explanations.hits import explain_hits

        return explain_hits(self.pipeline, hits)

    def warm_up(self) -> None:
        """Search for a word of the index, so that no request waits for a compiler."""
        field = self.pipeline.index.field()
        if field.n_terms:
            with suppress(DataError):  # the ranker may want features that only known queries have
                hits = self.pipeline.search(field.term(0), 1, plain=True, qid="")
                self.explain(hits)


def parts_of(path: Path) -> list[Path]:
    """The files that change when a saved pipeline is replaced or its index is written, given its settings."""
    folder = path.parent
    return [path, folder / "ranker.plackett", folder / "features.json", folder / "index" / "index.json"]
