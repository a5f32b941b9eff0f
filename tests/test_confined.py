"""What someone else may have put into a folder."""

from __future__ import annotations

import os
import socket

import pytest

from shoal.confined import check_size, other_entries, read_json, regular_files
from shoal.errors import RunFolderError


def test_only_regular_files_inside_count(tmp_path):
    folder = tmp_path / "folder"
    (folder / "deep").mkdir(parents=True)
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret").write_text("secret")
    (folder / "deep" / "file").write_text("four")
    (folder / "link").symlink_to(tmp_path / "outside" / "secret")
    (folder / "folder-link").symlink_to(tmp_path / "outside")
    (folder / "broken").symlink_to("nowhere")
    os.mkfifo(folder / "pipe")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(folder / "socket"))
    assert regular_files(folder) == {"deep/file": 4}
    assert sorted(other_entries(folder)) == ["broken", "folder-link", "link", "pipe", "socket"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[" * 100_000, "is damaged (nested too deeply); fit again"),
        ("{", "is damaged"),
        ('{"a": ' + "9" * 5000 + "}", "is damaged"),
    ],
)
def test_json_that_is_refused(tmp_path, content, message):
    (tmp_path / "a.json").write_text(content)
    with pytest.raises(RunFolderError) as error:
        read_json(tmp_path / "a.json")
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("name", "message"), [("a.json", r"has \d+ bytes, more than the \d+ it may"), ("a.parquet", r"only \d+ on disk")]
)
def test_sizes_are_known_before_anything_is_read(tmp_path, name, message):
    with (tmp_path / name).open("wb") as stream:
        stream.truncate(20 << 30)
    with pytest.raises(RunFolderError, match=message):
        check_size(tmp_path / name)


def test_what_never_ends_is_not_read(tmp_path):
    (tmp_path / "zero.json").symlink_to("/dev/zero")
    os.mkfifo(tmp_path / "pipe.json")
    for name in ("zero.json", "pipe.json"):
        with pytest.raises(RunFolderError, match="is not a regular file"):
            read_json(tmp_path / name)
    with pytest.raises(FileNotFoundError):
        read_json(tmp_path / "none.json")
