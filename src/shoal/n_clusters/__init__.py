"""How many clusters: found from the texts, shown with its evidence, and changed after the fit.

``curve.py`` measures every granularity, ``choice.py`` chooses one and offers two more, ``hierarchy.py`` is the tree
that leads from one to the others.
"""

from shoal.n_clusters.choice import LEVELS, NClusters, choose_n_clusters
from shoal.n_clusters.curve import Granularity, granularity_curve
from shoal.n_clusters.hierarchy import Hierarchy, build_hierarchy
from shoal.n_clusters.wanted import AUTO, Wanted, parse_wanted

__all__ = [
    "AUTO",
    "LEVELS",
    "Granularity",
    "Hierarchy",
    "NClusters",
    "Wanted",
    "build_hierarchy",
    "choose_n_clusters",
    "granularity_curve",
    "parse_wanted",
]
