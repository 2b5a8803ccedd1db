"""The manifest of an index: the parts that are committed."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from plackett._base.errors import DataError
from plackett._files.description import read_description, write_description
from plackett.text.analysis import Analyzer
from plackett.text.index.settings import IndexSettings
from plackett.text.index.values import KINDS

FILE = "index.json"
FORMAT_VERSION = 1
#: Files lie in the folder itself, under the names that a writer gives them.
_NAME = re.compile(r"[0-9]{6,12}\.[0-9a-z.]{1,40}")


@dataclass(frozen=True)
class Manifest:
    """The parts of an index; each commit replaces the file in one step."""

    settings: IndexSettings
    #: Number of commits.
    generation: int = 0
    #: Number of the next segment, and of the next file of deletions.
    next_number: int = 1
    #: By segment: ``n_documents``, and the files ``documents``, ``fields`` (by field) and ``deleted`` (or None).
    segments: tuple[dict[str, Any], ...] = field(default=())

    def files(self) -> set[str]:
        """Files that belong to the index."""
        names = {FILE}
        for entry in self.segments:
            names |= {entry["documents"], *entry["fields"].values(), *([entry["deleted"]] if entry["deleted"] else [])}
        return names

    def write(self, folder: Path) -> None:
        """Write the manifest: from then on the commit is valid."""
        settings = self.settings
        content = {
            "generation": self.generation,
            "next_number": self.next_number,
            "analyzer": asdict(settings.analyzer),
            "kinds": settings.kinds,
            "combine": settings.combine,
            "segments": self.segments,
        }
        write_description(folder / FILE, "index", FORMAT_VERSION, content)

    @classmethod
    def read(cls, folder: Path) -> Manifest:
        """Read and check the manifest of a folder."""
        path = folder / FILE
        content = read_description(path, "index", FORMAT_VERSION)
        try:
            analyzer = Analyzer.from_json(json.dumps(content["analyzer"]))
            settings = IndexSettings(analyzer, _kinds(content["kinds"]), _combine(content["combine"]))
            segments = tuple(_entry(entry) for entry in _list(content["segments"]))
            generation, next_number = content["generation"], content["next_number"]
            if not (_count(generation) and _count(next_number)):
                raise TypeError("the counters are not numbers")
            return cls(settings, generation, next_number, segments)
        except (KeyError, TypeError, ValueError) as error:
            raise DataError(f"{path}: damaged ({error})") from None


def _count(value: Any) -> bool:
    return type(value) is int and 0 <= value < 2**40


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError(f"{value!r:.60} is not a list")
    return value


def _kinds(value: Any) -> dict[str, str]:
    if not isinstance(value, dict) or not all(kind in KINDS for kind in value.values()):
        raise TypeError("unknown kinds of fields")
    if any("\0" in name for name in value):
        raise TypeError("a name of a field has a zero byte")
    return value


def _combine(value: Any) -> dict[str, tuple[str, ...]] | None:
    if value is None:
        return None
    if not isinstance(value, dict) or not all(
        isinstance(parts, list) and parts and all(isinstance(part, str) for part in parts) for parts in value.values()
    ):
        raise TypeError("bad combined fields")
    return {name: tuple(parts) for name, parts in value.items()}


def _entry(entry: Any) -> dict[str, Any]:
    if not isinstance(entry, dict) or set(entry) != {"n_documents", "documents", "fields", "deleted"}:
        raise TypeError("a segment has other entries than n_documents, documents, fields, deleted")
    if not _count(entry["n_documents"]) or entry["n_documents"] >= 2**31 or not isinstance(entry["fields"], dict):
        raise TypeError("a segment with a bad number of documents or bad fields")
    names = [entry["documents"], *entry["fields"].values(), *([] if entry["deleted"] is None else [entry["deleted"]])]
    if not all(isinstance(name, str) and _NAME.fullmatch(name) for name in names):
        raise TypeError("a file with a bad name")
    return entry
