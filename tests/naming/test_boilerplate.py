"""Clusters of near-duplicates are told from clusters of texts on one subject."""

from __future__ import annotations

import numpy as np

from shoal.naming import boilerplate_clusters

CLOSED = [f"Ticket #{i}: CLOSED on 2024-05-{i:02}!" for i in range(1, 13)]
FISH = [
    f"the {kind} swims in the {water}" for kind in ("cod", "eel", "carp", "pike") for water in ("sea", "lake", "pond")
]


def test_digits_punctuation_case_and_space_make_no_difference():
    labels = np.repeat([0, 1], 12)
    assert boilerplate_clusters([*FISH, *CLOSED], labels) == (1,)
    assert boilerplate_clusters([*FISH, *(text.lower().replace(" ", "  ") for text in CLOSED)], labels) == (1,)


def test_only_from_ten_texts_and_under_a_fifth():
    assert boilerplate_clusters(CLOSED[:9], np.zeros(9, np.int64)) == ()
    assert boilerplate_clusters(CLOSED[:10], np.zeros(10, np.int64)) == (0,)
    assert boilerplate_clusters([*CLOSED[:8], *FISH[:2]], np.zeros(10, np.int64)) == ()  # three of ten are distinct


def test_rows_without_text_are_no_cluster():
    assert boilerplate_clusters([None] * 12, np.full(12, -1)) == ()
