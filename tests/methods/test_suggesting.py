"""Suggestions: levels, and what each joins or divides of the medium one."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.corpus import Corpus
from shoal.errors import DataError
from shoal.methods.suggesting import _groups, suggest_n_clusters
from tiny_backbone import tiny_backbone

MEDIUM = np.repeat([0, 1, 2, 3], 10)
NAMES = ["fish", "birds", "cars", "bikes"]


def relations(labels, names):
    return [group["relation"] for group in _groups(np.asarray(labels), names, MEDIUM, NAMES)]


def test_the_same():
    groups = _groups(MEDIUM, NAMES, MEDIUM, NAMES)
    assert [group["relation"] for group in groups] == ["the same"] * 4
    assert [group["size"] for group in groups] == [10] * 4
    assert sum(group["share"] for group in groups) == pytest.approx(1)


def test_joined_and_divided():
    assert relations(np.repeat([0, 0, 1, 1], 10), ["animals", "wheels"]) == ["joins fish, birds", "joins cars, bikes"]
    halves = np.where(np.arange(40) < 5, 4, MEDIUM)
    assert relations(halves, [*NAMES, "eels"])[4] == "a part of fish"


def test_from_several():
    scattered = np.where(np.arange(40) % 10 < 3, 4, MEDIUM)
    assert relations(scattered, [*NAMES, "odds"])[4] == "from several"


@pytest.fixture(scope="module")
def backbone(tmp_path_factory):
    return tiny_backbone(tmp_path_factory.mktemp("backbone"), words=("fish", "boat", "road", "wheel"))


def test_every_level_has_groups_of_all_texts(backbone):
    words = {"sea": ["fish", "boat", "sail", "wave", "tide"], "road": ["road", "wheel", "car", "tyre", "fuel"]}
    rng = np.random.RandomState(0)
    texts = [" ".join(rng.choice(kind, 4)) + f" number {i}" for kind in words.values() for i in range(30)]
    found = suggest_n_clusters(Corpus.of(texts), backbone=backbone)
    assert found.groups.keys() == found.choice.levels.keys()
    for level, groups in found.groups.items():
        assert sum(group["size"] for group in groups) == len(set(texts))
        assert [group["size"] for group in groups] == sorted((group["size"] for group in groups), reverse=True), level
    assert suggest_n_clusters(Corpus.of(texts), "3-5", backbone).choice.chosen in (3, 4, 5)


@pytest.mark.parametrize("texts", [["one"], ["one", "one"], ["one", "two", "three"]])
def test_a_handful_of_texts(backbone, texts):
    found = suggest_n_clusters(Corpus.of(texts), backbone=backbone)
    assert found.choice.chosen == 1
    assert "nothing to choose" in found.choice.reason
    assert sum(group["size"] for group in found.groups["medium"]) == len(set(texts))


def test_no_texts(backbone):
    with pytest.raises(DataError, match="all 2 texts are empty"):
        suggest_n_clusters(Corpus.of(["", " "]), backbone=backbone)
