"""Descriptions of folders: a JSON object that says what the folder holds, and in which format."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from plackett._base.errors import DataError
from plackett._files.atomic import replacing
from plackett._files.checks import open_regular

#: A larger file is refused.
_LARGEST = 1 << 28


def read_description(path: Path, what: str, version: int, errors: str = "strict") -> dict[str, Any]:
    """The description of a folder with ``what``, such as an index, checked for its kind and format."""
    content = read_object(path, what, errors)
    if content.get("kind") != f"plackett {what}":
        raise DataError(f"{path}: not {'an' if what[0] in 'aeiou' else 'a'} {what}")
    if content.get("format_version") != version:
        raise DataError(f"{path}: format {content.get('format_version')!r:.20}; this plackett reads {version}")
    return content


def read_object(path: Path, what: str, errors: str = "strict") -> dict[str, Any]:
    """The JSON object in a file of a folder with ``what``."""
    try:
        with open_regular(path) as file:
            written = file.read(_LARGEST + 1)
        if len(written) > _LARGEST:
            raise DataError(f"{path}: more than {_LARGEST} bytes, the most that is read")
        content = json.loads(written.decode("utf-8", errors))
    except (FileNotFoundError, NotADirectoryError):
        reason = f"there is no {path.name}" if path.parent.is_dir() else "there is no such folder"
        raise DataError(f"{path.parent} holds no {what} ({reason})") from None
    except DataError:
        raise
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path}: damaged ({error})") from None
    if not isinstance(content, dict):
        raise DataError(f"{path}: damaged (not a JSON object)")
    return content


def write_description(path: Path, what: str, version: int, content: Mapping[str, Any]) -> None:
    """Write what `read_description` reads; the file appears complete or not at all."""
    described = {"kind": f"plackett {what}", "format_version": version, **content}
    with replacing(path) as file:
        file.write(json.dumps(described, ensure_ascii=False, indent=1).encode("utf-8", "replace"))
