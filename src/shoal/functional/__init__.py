"""Pure tensor maths: one formula, one function."""

from __future__ import annotations

from shoal.functional.assignment import cluster_kl, student_t, target_distribution
from shoal.functional.contrastive import cross_view_contrast, neighbourhood_contrast, nt_xent
from shoal.functional.hard_assignment import kmeans_term, nearest_center, running_centers
from shoal.functional.masked_lm import masked_cross_entropy
from shoal.functional.pooling import cls_pool, mean_pool
from shoal.functional.reconstruction import token_nll
from shoal.functional.topic_model import bag_nll, gaussian_kl, negative_elbo, topic_words

__all__ = [
    "bag_nll",
    "cls_pool",
    "cluster_kl",
    "cross_view_contrast",
    "gaussian_kl",
    "kmeans_term",
    "masked_cross_entropy",
    "mean_pool",
    "nearest_center",
    "negative_elbo",
    "neighbourhood_contrast",
    "nt_xent",
    "running_centers",
    "student_t",
    "target_distribution",
    "token_nll",
    "topic_words",
]
