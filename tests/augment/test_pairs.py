from __future__ import annotations

import gzip

import pytest

from shoal.augment import AugmentCache, CharSwap, VirtualAugmentation, WordDeletion, augmented_pair

TEXTS = [
    "restart the server after every update",
    "ok",
    "",
    "наивный поезд 🐟",
    "lone \ud800 surrogate",
    'a\n"b"\x00',
]


class Counting(CharSwap):
    calls = 0

    def _rewrite(self, texts, seed, view):
        Counting.calls += 1
        return super()._rewrite(texts, seed, view)


@pytest.fixture
def counting():
    Counting.calls = 0
    return Counting()


def test_views_differ_and_are_counted():
    pairs = augmented_pair(TEXTS, CharSwap(), seed=0)
    assert pairs.left == CharSwap().augment(TEXTS, 0, 0)
    assert pairs.right == CharSwap().augment(TEXTS, 0, 1)
    assert pairs.left != pairs.right
    assert (pairs.left_report.n, pairs.left_report.unchanged) == (6, 3)


def test_one_augmenter_for_each_view():
    pairs = augmented_pair(TEXTS, (VirtualAugmentation(), WordDeletion()), seed=0)
    assert pairs.left == TEXTS
    assert pairs.left_report.unchanged == len(TEXTS)
    assert pairs.right == WordDeletion().augment(TEXTS, 0, 1)


def test_the_cache_answers_the_second_time(tmp_path, counting):
    first = augmented_pair(TEXTS, counting, 0, AugmentCache(tmp_path / "new" / "folder"))
    assert Counting.calls == 2
    assert augmented_pair(TEXTS, counting, 0, AugmentCache(tmp_path / "new" / "folder")) == first
    assert Counting.calls == 2
    assert first == augmented_pair(TEXTS, counting, 0)


@pytest.mark.parametrize(
    "change", [{"seed": 1}, {"texts": TEXTS[::-1]}, {"texts": TEXTS[:-1]}, {"augmenter": Counting(0.3)}]
)
def test_whatever_decides_the_answer_is_in_the_key(tmp_path, counting, change):
    usual = {"texts": TEXTS, "augmenter": counting, "seed": 0, "cache": AugmentCache(tmp_path)}
    augmented_pair(**usual)
    augmented_pair(**(usual | change))
    assert Counting.calls == 4


def test_texts_cannot_run_into_each_other(tmp_path):
    cache = AugmentCache(tmp_path)
    keys = {cache.key("x", 0, 0, texts) for texts in (["a", "b"], ["ab"], ['a"\n"b'], ["a", "b", ""], [])}
    assert len(keys) == 5


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: b"",
        lambda content: b"not gzip at all",
        lambda content: content[: len(content) // 2],
        lambda content: content[:-30] + bytes([content[-30] ^ 255]) + content[-29:],
        lambda content: gzip.compress(b""),
        lambda content: gzip.compress(b"[]\n"),
        lambda content: gzip.compress(b"\xff\xfe\n"),
        lambda content: gzip.compress(gzip.decompress(content).rsplit(b"\n", 2)[0] + b"\n"),
        lambda content: gzip.compress(gzip.decompress(content).rsplit(b"\n", 2)[0] + b"\n7\n"),
        lambda content: gzip.compress(gzip.decompress(content).replace(b'"key": "', b'"key": "0')),
    ],
)
def test_a_damaged_file_is_made_anew(tmp_path, counting, damage):
    cache = AugmentCache(tmp_path)
    first = augmented_pair(TEXTS, counting, 0, cache)
    victim = sorted(tmp_path.iterdir())[0]
    victim.write_bytes(damage(victim.read_bytes()))
    assert augmented_pair(TEXTS, counting, 0, cache) == first
    assert Counting.calls == 3
    assert augmented_pair(TEXTS, counting, 0, cache) == first
    assert Counting.calls == 3


def test_a_failed_write_leaves_nothing(tmp_path):
    cache = AugmentCache(tmp_path)
    with pytest.raises(TypeError):
        cache.write("key", ["fine", object()])
    assert list(tmp_path.iterdir()) == []
    assert cache.read("key") is None


def test_without_a_folder_it_is_in_the_cache_folder(tmp_path, monkeypatch, counting):
    monkeypatch.setenv("SHOAL_CACHE", str(tmp_path))
    augmented_pair(TEXTS, counting, 0, AugmentCache())
    assert len(list((tmp_path / "augmented").iterdir())) == 2
    augmented_pair(TEXTS, counting, 0, AugmentCache())
    assert Counting.calls == 2


def test_a_folder_that_cannot_be_used_costs_only_the_cache(tmp_path, counting):
    (tmp_path / "file").write_text("no folder can be made below a file, by no user")
    cache = AugmentCache(tmp_path / "file" / "augmented")
    assert augmented_pair(TEXTS, counting, 0, cache) == augmented_pair(TEXTS, counting, 0)
    assert cache.read(cache.key(counting.fingerprint, 0, 0, TEXTS)) is None
