"""Descriptions of folders: what is refused, and why."""

import pytest

from plackett._base.errors import DataError
from plackett._files.description import read_description, write_description


def test_what_was_written_is_read(tmp_path):
    path = tmp_path / "index.json"
    write_description(path, "index", 1, {"name": "Köln"})
    assert read_description(path, "index", 1) == {"kind": "plackett index", "format_version": 1, "name": "Köln"}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[1]", "damaged .not a JSON object"),
        ("{", "damaged"),
        ('{"kind": "plackett pipeline", "format_version": 1}', "not an index"),
        ('{"kind": "plackett index", "format_version": 2}', "format 2; this plackett reads 1"),
        ('{"kind": "plackett index"}', "format None; this plackett reads 1"),
    ],
)
def test_other_content_is_refused(tmp_path, content, message):
    (tmp_path / "index.json").write_text(content)
    with pytest.raises(DataError, match=rf"index\.json: {message}"):
        read_description(tmp_path / "index.json", "index", 1)


def test_a_missing_file_names_the_folder(tmp_path):
    with pytest.raises(DataError, match=r"holds no index \(there is no index\.json\)"):
        read_description(tmp_path / "index.json", "index", 1)
    with pytest.raises(DataError, match=r"holds no index \(there is no such folder\)"):
        read_description(tmp_path / "none" / "index.json", "index", 1)
