"""Shoal's own method; the files of this folder, read in order, are its page.

1. ``features.py``: what is known of each text, by meaning and by words.
2. ``candidates.py``: the partitions that are considered.
3. ``regrouping.py``: clusters with two themes are cut, those that belong together merged.
4. ``evidence.py``: the evidence for a partition, without labels.
5. ``partition.py``: the procedure, from features to one partition.
6. ``teaching.py``: the confident part of the partition teaches the encoder.
7. ``memory.py``: texts of the fit are known again.
8. ``estimator.py``: the method, with its parameters.
"""

from shoal.methods.shoal.estimator import Shoal

__all__ = ["Shoal"]
