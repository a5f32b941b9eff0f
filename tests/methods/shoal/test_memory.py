from __future__ import annotations

import numpy as np

from shoal.methods.inputs import Rows
from shoal.methods.shoal.memory import Memory, row_keys


def rows(texts=None, vectors=None):
    n = len(texts if texts is not None else vectors)
    return Rows(np.ones(n, dtype=bool), texts, vectors)


def test_known_texts_are_recalled_and_others_are_not(tmp_path):
    known = rows(["one fish", "two fish", "red fish"])
    memory = Memory(row_keys(known), np.array([4, 5, 6]), of_texts=True)
    asked = rows(["RED  fish", "blue fish", "one fish", "a lone \ud800 surrogate"])
    assert memory.recall(asked).tolist() == [6, -1, 4, -1]
    memory.save(tmp_path)
    assert Memory.load(tmp_path).recall(asked).tolist() == [6, -1, 4, -1]


def test_vectors_are_known_by_their_values_and_never_mistaken_for_texts():
    vectors = np.array([[1.0, 2.0], [3.0, 4.0]], dtype=np.float32)
    memory = Memory(row_keys(rows(vectors=vectors)), np.array([0, 1]), of_texts=False)
    assert memory.recall(rows(vectors=vectors[::-1])).tolist() == [1, 0]
    assert memory.recall(rows(vectors=vectors + 1e-3)).tolist() == [-1, -1]
    assert memory.recall(rows(texts=["one fish"])).tolist() == [-1]
