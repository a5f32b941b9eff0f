"""Shoal's own method, one file per step; read them in this order.

1. ``features.py``: the features of each text, by meaning and by words.
2. ``candidates.py``: the candidate partitions.
3. ``regrouping.py``: splits clusters with two themes and merges those that belong together.
4. ``evidence.py``: the evidence for a partition, without labels.
5. ``partition.py``: the procedure, from features to one partition.
6. ``few_texts.py``: the partition of few texts, checked against plain k-means.
7. ``teaching.py``: the confident part of the partition teaches the encoder.
8. ``memory.py``: recognises fitted texts.
9. ``estimator.py``: the method, with its parameters.
"""

from shoal.methods.shoal.estimator import Shoal

__all__ = ["Shoal"]
