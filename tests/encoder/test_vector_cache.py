from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from shoal.encoder import vector_cache
from shoal.encoder.vector_cache import EncodedTexts, cached_vectors, vector_key

VECTORS = np.arange(12, dtype=np.float32).reshape(4, 3)


class Computing:
    """Gives the vectors and counts how often it was asked."""

    def __init__(self, vectors=VECTORS, truncated=2):
        self.encoded = EncodedTexts(vectors, truncated)
        self.calls = 0

    def __call__(self):
        self.calls += 1
        return self.encoded


def assert_same(encoded, truncated=2):
    np.testing.assert_array_equal(encoded.vectors, VECTORS)
    assert encoded.vectors.dtype == np.float32
    assert encoded.truncated == truncated


def test_a_hit_does_not_compute(tmp_path):
    compute = Computing()
    assert_same(cached_vectors("key", compute, tmp_path))
    assert_same(cached_vectors("key", compute, tmp_path))
    assert compute.calls == 1
    assert [file.name for file in tmp_path.iterdir()] == ["key.vectors"]


def test_another_key_is_a_miss(tmp_path):
    compute = Computing()
    cached_vectors("key", compute, tmp_path)
    cached_vectors("other", compute, tmp_path)
    assert compute.calls == 2


def test_the_vectors_of_a_hit_can_be_changed_in_place(tmp_path):
    cached_vectors("key", Computing(), tmp_path)
    cached_vectors("key", Computing(), tmp_path).vectors[0] = 7
    assert_same(cached_vectors("key", Computing(), tmp_path))


def test_the_default_folder_is_in_the_cache(cache):
    cached_vectors("key", Computing())
    assert (cache / "vectors" / "key.vectors").is_file()


@pytest.mark.parametrize("place", [0, 31, 32, 39, 40, 60, -1])
def test_one_damaged_byte_is_noticed_and_mended(tmp_path, place):
    cached_vectors("key", Computing(), tmp_path)
    file = tmp_path / "key.vectors"
    content = bytearray(file.read_bytes())
    content[place] ^= 1
    file.write_bytes(content)
    compute = Computing()
    assert_same(cached_vectors("key", compute, tmp_path))
    assert_same(cached_vectors("key", compute, tmp_path))
    assert compute.calls == 1


@pytest.mark.parametrize("length", [0, 1, 32, 40, 100, -1])
def test_a_file_cut_short_is_noticed_and_mended(tmp_path, length):
    cached_vectors("key", Computing(), tmp_path)
    file = tmp_path / "key.vectors"
    file.write_bytes(file.read_bytes()[:length])
    compute = Computing()
    assert_same(cached_vectors("key", compute, tmp_path))
    assert_same(cached_vectors("key", compute, tmp_path))
    assert compute.calls == 1


def test_a_pickle_is_never_opened(tmp_path):
    objects = EncodedTexts(np.array([{"a": 1}], dtype=object), 0)
    with pytest.raises(ValueError):
        vector_cache._pack(objects)


def test_a_folder_that_cannot_be_written_costs_only_the_keeping(tmp_path):
    (tmp_path / "file").write_text("")
    compute = Computing()
    for _ in range(2):
        assert_same(cached_vectors("key", compute, tmp_path / "file" / "vectors"))
    assert compute.calls == 2


def test_a_full_disk_costs_only_the_keeping(tmp_path, monkeypatch):
    def full(path, content):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("shoal.cache.write_atomically", full)
    assert_same(cached_vectors("key", Computing(), tmp_path))


def test_a_cache_that_can_only_be_read_still_serves(tmp_path, monkeypatch):
    cached_vectors("key", Computing(), tmp_path)

    def denied(*arguments, **options):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "touch", denied)
    compute = Computing()
    assert_same(cached_vectors("key", compute, tmp_path))
    assert compute.calls == 0


def test_the_files_used_longest_ago_go_first(tmp_path, monkeypatch):
    size = len(vector_cache._pack(Computing().encoded))
    monkeypatch.setattr(vector_cache, "LIMIT_BYTES", 3 * size)
    for age, key in ((400, "a"), (300, "b"), (200, "c")):
        cached_vectors(key, Computing(), tmp_path)
        stamp = (tmp_path / f"{key}.vectors").stat().st_mtime - age
        os.utime(tmp_path / f"{key}.vectors", (stamp, stamp))
    cached_vectors("a", Computing(), tmp_path)  # a hit makes it young again
    cached_vectors("d", Computing(), tmp_path)
    assert sorted(file.stem for file in tmp_path.iterdir()) == ["a", "c", "d"]


WRITER = """
import sys, time
from pathlib import Path
import numpy as np
from shoal.encoder.vector_cache import EncodedTexts, cached_vectors, _pack
from shoal.cache import write_atomically
file = Path(sys.argv[1]) / "key.vectors"
vectors = np.full((200, 300), float(sys.argv[2]), dtype=np.float32)
print("ready", flush=True)
sys.stdin.readline()
for _ in range(150):
    write_atomically(file, _pack(EncodedTexts(vectors, int(sys.argv[2]))))
    found = cached_vectors("key", lambda: sys.exit("a damaged file was read"), file.parent)
    if not (found.vectors == found.truncated).all():
        sys.exit("two files were mixed")
"""


@pytest.mark.slow
def test_two_processes_at_once_do_each_other_no_harm(tmp_path):
    arguments = [sys.executable, "-c", WRITER, str(tmp_path)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    writers = [subprocess.Popen([*arguments, number], **pipes) for number in ("1", "2")]
    for writer in writers:
        assert writer.stdout.readline() == "ready\n"
    for writer in writers:
        writer.stdin.write("go\n")
        writer.stdin.flush()
    for writer in writers:
        _, complaint = writer.communicate(timeout=60)
        assert writer.returncode == 0, complaint
    assert [file.name for file in tmp_path.iterdir()] == ["key.vectors"]


def test_the_key_tells_apart_all_that_matters():
    keys = [
        vector_key("encoder", ["ab", "c"]),
        vector_key("other", ["ab", "c"]),
        vector_key("encoder", ["a", "bc"]),
        vector_key("encoder", ["c", "ab"]),
        vector_key("encoder", ["ab", "c", ""]),
        vector_key("encoder", ["abc"]),
        vector_key("encoder", ["ab", "\ud800"]),
    ]
    assert len(set(keys)) == len(keys)
    assert vector_key("encoder", ("ab", "c")) == keys[0]
