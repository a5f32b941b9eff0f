"""Every method by name: a new one is one file and one line here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any

from shoal.errors import ParameterError

if TYPE_CHECKING:
    from shoal.methods.base import TextClusterer

DEFAULT = "shoal"


@dataclass(frozen=True)
class Method:
    """A method under its name on the command line.

    Attributes
    ----------
    home : str or type
        The class, or where it is, as "module:Class": imported when it is first used.
    settings : mapping
        Parameters that make it this method rather than another of its class.
    said : mapping
        ``summary``, ``source`` and ``presets``, where they differ from what the class says of itself.
    """

    home: str | type[TextClusterer]
    settings: Mapping[str, Any] = field(default_factory=dict)
    said: Mapping[str, Any] = field(default_factory=dict)

    @property
    def class_name(self) -> str:
        """The name of the class, which is not imported for it."""
        return self.home.partition(":")[2] if isinstance(self.home, str) else self.home.__name__

    @cached_property
    def estimator(self) -> type[TextClusterer]:
        """The class."""
        if not isinstance(self.home, str):
            return self.home
        module, _, name = self.home.partition(":")
        found: type[TextClusterer] = getattr(import_module(module), name)
        return found

    @property
    def summary(self) -> str:
        """One line on what it does."""
        return str(self.said.get("summary", self.estimator.summary))

    @property
    def source(self) -> str:
        """The paper it is from."""
        return str(self.said.get("source", self.estimator.source))

    @property
    def presets(self) -> Mapping[str, Mapping[str, Any]]:
        """Named sets of parameters: the values of a paper, or its values for one data set."""
        found: Mapping[str, Mapping[str, Any]] = self.said.get("presets", self.estimator.presets)
        return found

    def __call__(self, **params: Any) -> TextClusterer:
        """Build the estimator; ``params`` win over the method's own settings."""
        self.check_names(params)
        return self.estimator(**{**self.settings, **params})

    def defaults(self) -> dict[str, Any]:
        """Return every parameter with its default."""
        from shoal.parameters import parameters_of

        declared = parameters_of(self.estimator)
        return {name: self.settings.get(name, parameter.default) for name, parameter in declared.items()}

    def check_names(self, params: Mapping[str, Any]) -> None:
        """Refuse a parameter that the method does not have."""
        known = self.defaults()
        for name in params:
            if name not in known:
                raise ParameterError(f"there is no parameter {name!r}; the parameters are {', '.join(known)}.")


_TWO_STAGE = "shoal.methods.two_stage:TwoStage"

METHODS: dict[str, Method] = {
    "shoal": Method("shoal.methods.shoal:Shoal"),
    "kmeans": Method(
        _TWO_STAGE,
        said={
            "summary": "the encoder's vectors, spherical k-means",
            "source": "baseline of all four papers; by cosine, which suits sentence vectors",
        },
    ),
    "sccl": Method("shoal.methods.sccl:SCCL"),
    "deccrl": Method("shoal.methods.deccrl:DECCRL"),
    "tsdae": Method("shoal.methods.tsdae:TSDAE"),
    "clusterbert": Method("shoal.methods.clusterbert:ClusterBERT"),
    "mlm-dec": Method("shoal.methods.mlm_dec:MLMDEC"),
    "dec": Method("shoal.methods.dec:DEC"),
    "idec": Method("shoal.methods.idec:IDEC"),
    "dcn": Method("shoal.methods.dcn:DCN"),
    "ae-kmeans": Method("shoal.methods.ae_kmeans:AEKMeans"),
    "cls-kmeans": Method(
        _TWO_STAGE,
        {"pooling": "cls", "normalize": False, "clusterer": "kmeans"},
        {
            "summary": "the encoder's [CLS] vector, k-means",
            "source": "ClusterBERT (baseline), MLM + DEC (ablation)",
            "presets": {"umap": {"reducer": "umap"}},
        },
    ),
    "bow-kmeans": Method(
        _TWO_STAGE,
        {"representation": "bow", "clusterer": "kmeans"},
        {"summary": "word counts, k-means", "source": "SCCL, DECCRL (baseline)"},
    ),
    "tfidf-kmeans": Method(
        _TWO_STAGE,
        {"representation": "tfidf", "clusterer": "kmeans"},
        {
            "summary": "TF-IDF, k-means",
            "source": "SCCL, DECCRL (baseline); ClusterBERT's as a preset",
            "presets": {"clusterbert": {"max_features": 2000, "stop_words": "english"}},
        },
    ),
    "sif-kmeans": Method(
        _TWO_STAGE,
        {"representation": "sif", "clusterer": "kmeans"},
        {
            "summary": "smooth inverse frequency over word vectors, k-means",
            "source": "Arora et al. 2017; ClusterBERT (baseline)",
            "presets": {"glove": {"word_vectors": "glove"}, "umap": {"reducer": "umap"}},
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
        raise ParameterError(f"there is no method {name!r}; the methods are {', '.join(METHODS)}.")
    return METHODS[name]


def build_method(name: str, preset: str | None = None, params: Mapping[str, Any] | None = None) -> TextClusterer:
    """Build the method called ``name`` with the parameters of a preset, and with ``params``, which win.

    Examples
    --------
    >>> build_method("tfidf-kmeans", "clusterbert", {"n_clusters": 3}).max_features
    2000
    """
    method = find_method(name)
    if preset is not None and preset not in method.presets:
        there = ", ".join(method.presets) or "none"
        raise ParameterError(f"method {name!r} has no preset {preset!r}; its presets: {there}.")
    return method(**{**(method.presets[preset] if preset is not None else {}), **(params or {})})


def find_class(name: str) -> type[TextClusterer]:
    """Return the class called ``name`` among those of the methods."""
    found = next((method for method in METHODS.values() if method.class_name == name), None)
    if found is None:
        raise ParameterError(f"no method has the class {name!r}; register it in shoal.METHODS.")
    return found.estimator
