"""Every method by name: a new one is one file and one line here."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from shoal.errors import ParameterError
from shoal.methods.ae_kmeans import PRESETS as AE_KMEANS_PRESETS
from shoal.methods.ae_kmeans import AEKMeans
from shoal.methods.base import TextClusterer
from shoal.methods.clusterbert import PRESETS as CLUSTERBERT_PRESETS
from shoal.methods.clusterbert import ClusterBERT
from shoal.methods.dcn import DCN
from shoal.methods.dcn import PRESETS as DCN_PRESETS
from shoal.methods.dec import DEC
from shoal.methods.dec import PRESETS as DEC_PRESETS
from shoal.methods.deccrl import DECCRL
from shoal.methods.deccrl import PRESETS as DECCRL_PRESETS
from shoal.methods.idec import IDEC
from shoal.methods.idec import PRESETS as IDEC_PRESETS
from shoal.methods.mlm_dec import MLMDEC
from shoal.methods.mlm_dec import PRESETS as MLM_DEC_PRESETS
from shoal.methods.sccl import PRESETS as SCCL_PRESETS
from shoal.methods.sccl import SCCL
from shoal.methods.shoal import Shoal
from shoal.methods.tsdae import PRESETS as TSDAE_PRESETS
from shoal.methods.tsdae import TSDAE
from shoal.methods.two_stage import TwoStage

DEFAULT = "shoal"
CLASSES: dict[str, type[TextClusterer]] = {
    cls.__name__: cls for cls in (Shoal, TwoStage, SCCL, AEKMeans, DEC, IDEC, DCN, MLMDEC, TSDAE, ClusterBERT, DECCRL)
}


@dataclass(frozen=True)
class Method:
    """A method under its name on the command line.

    Attributes
    ----------
    estimator : type
        The class.
    summary : str
        One line on what it does.
    source : str
        The paper it is from.
    settings : mapping
        Parameters that make it this method rather than another of its class.
    presets : mapping of str to mapping
        Named sets of parameters: a paper's own values, or its values for one data set.
    """

    estimator: type[TextClusterer]
    summary: str
    source: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    presets: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def __call__(self, **params: Any) -> TextClusterer:
        """Build the estimator; ``params`` win over the method's own settings."""
        self.check_names(params)
        return self.estimator(**{**self.settings, **params})

    def defaults(self) -> dict[str, Any]:
        """Return every parameter with the value it has if nothing is said."""
        signature = inspect.signature(self.estimator).parameters
        return {name: self.settings.get(name, parameter.default) for name, parameter in signature.items()}

    def check_names(self, params: Mapping[str, Any]) -> None:
        """Refuse a parameter that the method does not have."""
        known = self.defaults()
        for name in params:
            if name not in known:
                raise ParameterError(f"there is no parameter {name!r}; the parameters are {', '.join(known)}.")


_CLUSTERBERT_WORDS = {"clusterbert": {"max_features": 2000, "stop_words": "english"}}

METHODS: dict[str, Method] = {
    "shoal": Method(
        Shoal,
        "meaning and shared words, two views that correct each other; fine-tuned if asked for",
        "our own (docs/methods/shoal.md)",
    ),
    "kmeans": Method(
        TwoStage,
        "the encoder's vectors, spherical k-means",
        "baseline of all four papers; by cosine, which suits sentence vectors",
    ),
    "sccl": Method(
        SCCL,
        "fine-tuning: instance-wise contrast joined with a Student-t clustering loss",
        "SCCL (Zhang et al. 2021)",
        presets=SCCL_PRESETS,
    ),
    "deccrl": Method(
        DECCRL,
        "fine-tuning: contrast, a Student-t clustering loss, and centres that must rebuild the words; finds topics",
        "DECCRL (Yin et al. 2022)",
        presets=DECCRL_PRESETS,
    ),
    "tsdae": Method(
        TSDAE,
        "fine-tuning: a denoising auto-encoder of sentences, then k-means",
        "TSDAE (Wang et al. 2021); ClusterBERT (baseline)",
        presets=TSDAE_PRESETS,
    ),
    "clusterbert": Method(
        ClusterBERT,
        "fine-tuning in three stages: reconstruction, clustering, hardening",
        "ClusterBERT (under review at ICLR 2023)",
        presets=CLUSTERBERT_PRESETS,
    ),
    "mlm-dec": Method(
        MLMDEC,
        "fine-tuning: a masked language model joined with a Student-t clustering loss",
        "MLM + DEC (Huang et al. 2020)",
        presets=MLM_DEC_PRESETS,
    ),
    "dec": Method(
        DEC,
        "an auto-encoder of the vectors; its encoder and centres trained to harden the Student-t assignment",
        "DEC (Xie et al. 2016); MLM + DEC (baseline)",
        presets=DEC_PRESETS,
    ),
    "idec": Method(
        IDEC,
        "DEC that keeps the reconstruction",
        "IDEC (Guo et al. 2017); MLM + DEC, ClusterBERT (baseline)",
        presets=IDEC_PRESETS,
    ),
    "dcn": Method(
        DCN,
        "an auto-encoder of the vectors, trained in turns with k-means on its code",
        "DCN (Yang et al. 2017); MLM + DEC (baseline)",
        presets=DCN_PRESETS,
    ),
    "ae-kmeans": Method(
        AEKMeans,
        "the code of an auto-encoder of the vectors, k-means",
        "MLM + DEC (baseline)",
        presets=AE_KMEANS_PRESETS,
    ),
    "cls-kmeans": Method(
        TwoStage,
        "the encoder's [CLS] vector, k-means",
        "ClusterBERT (baseline), MLM + DEC (ablation)",
        {"pooling": "cls", "normalize": False, "clusterer": "kmeans"},
        {"umap": {"reducer": "umap"}},
    ),
    "bow-kmeans": Method(
        TwoStage,
        "word counts, k-means",
        "SCCL, DECCRL (baseline)",
        {"representation": "bow", "clusterer": "kmeans"},
    ),
    "tfidf-kmeans": Method(
        TwoStage,
        "TF-IDF, k-means",
        "SCCL, DECCRL (baseline); ClusterBERT's as a preset",
        {"representation": "tfidf", "clusterer": "kmeans"},
        _CLUSTERBERT_WORDS,
    ),
    "sif-kmeans": Method(
        TwoStage,
        "smooth inverse frequency over word vectors, k-means",
        "Arora et al. 2017; ClusterBERT (baseline)",
        {"representation": "sif", "clusterer": "kmeans"},
        {"glove": {"word_vectors": "glove"}, "umap": {"reducer": "umap"}},
    ),
    "two-stage": Method(
        TwoStage,
        "any representation, reducer and clusterer",
        "the baselines of all four papers, freely combined",
    ),
}


def find_method(name: str) -> Method:
    """Return the method called ``name``.

    Examples
    --------
    >>> find_method("tfidf-kmeans")(n_clusters=3).representation
    'tfidf'
    """
    if name not in METHODS:
        raise ParameterError(f"there is no method {name!r}; the methods are {', '.join(METHODS)}.")
    return METHODS[name]
