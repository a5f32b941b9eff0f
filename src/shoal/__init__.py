"""Shoal groups short texts by meaning, names the groups, and sorts new texts the same way.

>>> import shoal
>>> shoal.__version__.count(".")
2
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from shoal._version import __version__

if TYPE_CHECKING:
    from shoal.clustering import Cluster, Clustering
    from shoal.corpus import Corpus
    from shoal.errors import ShoalError
    from shoal.methods import METHODS
    from shoal.methods.ae_kmeans import AEKMeans
    from shoal.methods.clusterbert import ClusterBERT
    from shoal.methods.dcn import DCN
    from shoal.methods.dec import DEC
    from shoal.methods.deccrl import DECCRL
    from shoal.methods.idec import IDEC
    from shoal.methods.mlm_dec import MLMDEC
    from shoal.methods.persistence import load
    from shoal.methods.sccl import SCCL
    from shoal.methods.self_train import SelfTrain
    from shoal.methods.shoal import Shoal
    from shoal.methods.stcc import STCC
    from shoal.methods.tsdae import TSDAE
    from shoal.methods.two_stage import TwoStage
    from shoal.methods.vascl import VaSCL

__all__ = [
    "DCN",
    "DEC",
    "DECCRL",
    "IDEC",
    "METHODS",
    "MLMDEC",
    "SCCL",
    "STCC",
    "TSDAE",
    "AEKMeans",
    "Cluster",
    "ClusterBERT",
    "Clustering",
    "Corpus",
    "SelfTrain",
    "Shoal",
    "ShoalError",
    "TwoStage",
    "VaSCL",
    "__version__",
    "load",
]

_HOMES = {
    "Cluster": "shoal.clustering",
    "Clustering": "shoal.clustering",
    "Corpus": "shoal.corpus",
    "METHODS": "shoal.methods",
    "ShoalError": "shoal.errors",
    "load": "shoal.methods.persistence",
}


def __getattr__(name: str) -> Any:
    """Import a public name on first use, so that ``import shoal`` is fast."""
    if name in _HOMES:
        value = getattr(import_module(_HOMES[name]), name)
    elif name in __all__:  # a method's class
        value = import_module("shoal.methods").find_class(name)
    else:
        raise AttributeError(f"module 'shoal' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
