"""Every method by name. A new method is one file and one line here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any

from shoal.errors import ParameterError, did_you_mean

if TYPE_CHECKING:
    from shoal.methods.base import TextClusterer

DEFAULT = "shoal"
PRESETS_JOINED = "+"  # between the names of several presets


@dataclass(frozen=True)
class Method:
    """A method under its name on the command line.

    Attributes
    ----------
    target : str or type
        The class, or its location as "module:Class", which is imported on first use.
    settings : mapping
        Parameters that distinguish this method from others of the same class.
    overrides : mapping
        ``summary``, ``source`` and ``presets``, where they differ from those of the class.
    """

    target: str | type[TextClusterer]
    settings: Mapping[str, Any] = field(default_factory=dict)
    overrides: Mapping[str, Any] = field(default_factory=dict)

    @property
    def class_name(self) -> str:
        """The name of the class, without importing it."""
        return self.target.partition(":")[2] if isinstance(self.target, str) else self.target.__name__

    @cached_property
    def estimator(self) -> type[TextClusterer]:
        """The class."""
        if not isinstance(self.target, str):
            return self.target
        module, _, name = self.target.partition(":")
        found: type[TextClusterer] = getattr(import_module(module), name)
        return found

    @property
    def summary(self) -> str:
        """One line on what it does."""
        return str(self.overrides.get("summary", self.estimator.summary))

    @property
    def source(self) -> str:
        """The paper it is from."""
        return str(self.overrides.get("source", self.estimator.source))

    @property
    def presets(self) -> Mapping[str, Mapping[str, Any]]:
        """Named sets of parameters: a paper's values, or its values for one data set."""
        found: Mapping[str, Mapping[str, Any]] = self.overrides.get("presets", self.estimator.presets)
        return found

    def __call__(self, **params: Any) -> TextClusterer:
        """Build the estimator; ``params`` override the method's own settings."""
        self.check_names(params)
        return self.estimator(**{**self.settings, **params})

    def defaults(self) -> dict[str, Any]:
        """Return every parameter with its default."""
        from shoal.parameters import parameters_of

        declared = parameters_of(self.estimator)
        return {name: self.settings.get(name, parameter.default) for name, parameter in declared.items()}

    def check_names(self, params: Mapping[str, Any]) -> None:
        """Reject parameters that the method does not have."""
        known = self.defaults()
        for name in params:
            if name not in known:
                near = did_you_mean(name, known)
                raise ParameterError(f"there is no parameter {name!r}; the parameters are {', '.join(known)}.{near}")


_TWO_STAGE = "shoal.methods.two_stage:TwoStage"

METHODS: dict[str, Method] = {
    "shoal": Method("shoal.methods.shoal:Shoal"),
    "kmeans": Method(
        _TWO_STAGE,
        overrides={
            "summary": "spherical k-means on the encoder's vectors",
            "source": "baseline of all four papers; by cosine, which suits sentence vectors",
        },
    ),
    "sccl": Method("shoal.methods.sccl:SCCL"),
    "deccrl": Method("shoal.methods.deccrl:DECCRL"),
    "tsdae": Method("shoal.methods.tsdae:TSDAE"),
    "clusterbert": Method("shoal.methods.clusterbert:ClusterBERT"),
    "vascl": Method("shoal.methods.vascl:VaSCL"),
    "mlm-dec": Method("shoal.methods.mlm_dec:MLMDEC"),
    "dec": Method("shoal.methods.dec:DEC"),
    "idec": Method("shoal.methods.idec:IDEC"),
    "dcn": Method("shoal.methods.dcn:DCN"),
    "ae-kmeans": Method("shoal.methods.ae_kmeans:AEKMeans"),
    "stcc": Method("shoal.methods.stcc:STCC"),
    "self-train": Method("shoal.methods.self_train:SelfTrain"),
    "cls-kmeans": Method(
        _TWO_STAGE,
        {"pooling": "cls", "normalize": False, "clusterer": "kmeans"},
        {
            "summary": "k-means on the encoder's [CLS] vector",
            "source": "ClusterBERT (baseline), MLM + DEC (ablation)",
            "presets": {"umap": {"reducer": "umap"}},
        },
    ),
    "bow-kmeans": Method(
        _TWO_STAGE,
        {"representation": "bow", "clusterer": "kmeans"},
        {"summary": "k-means on word counts", "source": "SCCL, DECCRL (baseline)"},
    ),
    "tfidf-kmeans": Method(
        _TWO_STAGE,
        {"representation": "tfidf", "clusterer": "kmeans"},
        {
            "summary": "k-means on TF-IDF vectors",
            "source": "SCCL, DECCRL (baseline); ClusterBERT's as a preset",
            "presets": {"clusterbert": {"max_features": 2000, "stop_words": "english"}},
        },
    ),
    "sif-kmeans": Method(
        _TWO_STAGE,
        {"representation": "sif", "clusterer": "kmeans"},
        {
            "summary": "k-means on word vectors weighted by smooth inverse frequency (SIF)",
            "source": "Arora et al. 2017; ClusterBERT (baseline)",
            "presets": {"glove": {"word_vectors": "glove"}, "umap": {"reducer": "umap"}},
        },
    ),
    "hac-sd": Method(
        _TWO_STAGE,
        {"clusterer": "hac-sd", "linkage": "average", "representation": "meaning+words"},
        {
            "summary": "agglomerative clustering of the N²/K cosines that stand out",
            "source": "HAC-SD (Rakib et al. 2020); SCCL, DECCRL (baseline)",
            "presets": {
                "glove": {"representation": "sif", "word_vectors": "glove"},
                "ward": {"linkage": "ward", "representation": "transformer"},
            },
        },
    ),
    "two-stage": Method(_TWO_STAGE),
}


def find_method(name: str) -> Method:
    """Return the method called ``name``.

    Examples
    --------
    >>> find_method("tfidf-kmeans")(n_clusters=3).representation
    'tfidf'
    """
    if name not in METHODS:
        near = did_you_mean(name, METHODS)
        raise ParameterError(f"there is no method {name!r}; the methods are {', '.join(METHODS)}.{near}")
    return METHODS[name]


def build_method(name: str, preset: str | None = None, params: Mapping[str, Any] | None = None) -> TextClusterer:
    """Build the method called ``name`` from a preset and ``params``; ``params`` override the preset.

    Several presets are joined by ``+``; where they differ, the later one counts.

    Examples
    --------
    >>> build_method("sccl", "paper-offline+biomedical").alpha
    10.0
    >>> build_method("tfidf-kmeans", "clusterbert", {"n_clusters": 3}).max_features
    2000
    """
    method = find_method(name)
    chosen: dict[str, Any] = {}
    for part in [] if preset is None else preset.split(PRESETS_JOINED):
        if part not in method.presets:
            there = ", ".join(method.presets) or "none"
            near = did_you_mean(part, method.presets)
            raise ParameterError(f"method {name!r} has no preset {part!r}; its presets: {there}.{near}")
        chosen |= method.presets[part]
    return method(**{**chosen, **(params or {})})


def find_class(name: str) -> type[TextClusterer]:
    """Return the method class called ``name``."""
    found = next((method for method in METHODS.values() if method.class_name == name), None)
    if found is None:
        raise ParameterError(f"no method has the class {name!r}; register it in shoal.METHODS.")
    return found.estimator
