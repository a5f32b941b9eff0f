from __future__ import annotations

import errno
import hashlib
import os
from pathlib import Path

import pytest

from shoal import TwoStage
from shoal.cache import cache_folder, sha256_of, write_atomically
from shoal.methods.sccl import SCCL
from tiny_backbone import tiny_backbone


def test_where_the_cache_is(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("SHOAL_CACHE", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert cache_folder() == tmp_path / ".cache" / "shoal"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_folder() == tmp_path / "xdg" / "shoal"
    monkeypatch.setenv("SHOAL_CACHE", "~/fish")
    assert cache_folder() == tmp_path / "fish"
    assert list(tmp_path.iterdir()) == []  # asking makes nothing


def test_a_file_is_written_with_its_folders_and_replaced(tmp_path):
    file = tmp_path / "a" / "b" / "file"
    write_atomically(file, b"first")
    write_atomically(file, b"second")
    assert file.read_bytes() == b"second"
    assert [entry.name for entry in file.parent.iterdir()] == ["file"]


@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt])
@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_write_that_breaks_off_leaves_the_old_file_and_no_litter(tmp_path, monkeypatch, step, error):
    file = tmp_path / "file"
    write_atomically(file, b"old")

    def broken(*arguments, **options):
        raise error

    monkeypatch.setattr(os if step == "fsync" else Path, step, broken)
    with pytest.raises(error):
        write_atomically(file, b"new")
    assert file.read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]


def test_the_bytes_are_on_the_disk_before_the_name_is_given(tmp_path, monkeypatch):
    steps = []
    fsync, replace = os.fsync, Path.replace
    monkeypatch.setattr(os, "fsync", lambda handle: steps.append("synced") or fsync(handle))
    monkeypatch.setattr(Path, "replace", lambda old, new: steps.append("named") or replace(old, new))
    write_atomically(tmp_path / "file", b"content")
    assert steps == ["synced", "named"]


@pytest.mark.skipif(os.name != "posix", reason="file modes")
def test_who_may_read_the_file_is_up_to_the_umask(tmp_path):
    before = os.umask(0o022)
    try:
        write_atomically(tmp_path / "file", b"content")
    finally:
        os.umask(before)
    assert (tmp_path / "file").stat().st_mode & 0o777 == 0o644


def test_sha256_of_a_file(tmp_path):
    (tmp_path / "file").write_bytes(b"content" * 1000)
    assert sha256_of(tmp_path / "file") == hashlib.sha256(b"content" * 1000).hexdigest()


class TestNeverNeeded:
    """One rule for every method and command: without a cache they only take longer."""

    @pytest.fixture(params=["below a file", "full", "no home"])
    def broken(self, request, tmp_path, monkeypatch):
        """Break the cache."""
        if request.param == "below a file":
            (tmp_path / "file").touch()
            monkeypatch.setenv("SHOAL_CACHE", str(tmp_path / "file" / "cache"))
        elif request.param == "full":

            def full(path, content):
                raise OSError(errno.ENOSPC, "No space left on device")

            monkeypatch.setattr("shoal.cache.write_atomically", full)
        else:

            def homeless():
                raise RuntimeError("Could not determine home directory.")

            for name in ("SHOAL_CACHE", "XDG_CACHE_HOME"):
                monkeypatch.delenv(name, raising=False)
            monkeypatch.setattr(Path, "home", homeless)
            monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))

    @pytest.mark.parametrize("params", [{"augmentation": "char_swap"}, {"augmentation": "neighbour"}])
    def test_training(self, broken, tmp_path, params):
        texts = [
            f"{colour} {thing}" for colour in ("red", "green", "blue") for thing in ("car", "bus", "drum", "flute")
        ]
        backbone = tiny_backbone(tmp_path / "backbone")
        SCCL(2, backbone=backbone, max_steps=1, batch_size=6, **params).fit(texts)
        TwoStage(2, backbone=backbone).fit(texts)
