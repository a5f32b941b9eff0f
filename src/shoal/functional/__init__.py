"""Pure tensor maths: one formula, one function."""

from __future__ import annotations

from shoal.functional.assignment import cluster_kl, sinkhorn, student_t, target_distribution
from shoal.functional.contrastive import nt_xent
from shoal.functional.pooling import cls_pool, mean_pool
from shoal.functional.reconstruction import token_nll

__all__ = [
    "cls_pool",
    "cluster_kl",
    "mean_pool",
    "nt_xent",
    "sinkhorn",
    "student_t",
    "target_distribution",
    "token_nll",
]
