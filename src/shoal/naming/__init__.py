"""Keywords, examples and names for clusters."""

from shoal.naming.boilerplate import boilerplate_clusters
from shoal.naming.clusters import describe_clusters
from shoal.naming.describe import ClusterDescription, describe
from shoal.naming.keywords import c_tf_idf
from shoal.naming.topics import describe_topics

__all__ = [
    "ClusterDescription",
    "boilerplate_clusters",
    "c_tf_idf",
    "describe",
    "describe_clusters",
    "describe_topics",
]
