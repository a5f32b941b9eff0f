"""The base class of every method: scikit-learn's interface, texts or vectors in, labels and names out."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClusterMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, check_random_state, validate_data

from shoal.clusterers import Clusterer, Reducer
from shoal.clustering import NO_CLUSTER, Cluster, Clustering, Topic
from shoal.corpus import Corpus
from shoal.encoder.representation import MEANING_AND_WORDS, TRANSFORMER
from shoal.engine import Engine, current_engine
from shoal.errors import DataError, ParameterError
from shoal.methods import shared_parameters as shared
from shoal.methods.answers import assign_by_scores, assign_in_blocks, clustering_of, probabilities_of, vectors_of
from shoal.methods.calibration import Calibration, calibrate
from shoal.methods.context import FitContext, outcome_of
from shoal.methods.endings import CLUSTERER, REDUCER, end_fit
from shoal.methods.granularity import ENCODING, cut_model, find_n_clusters
from shoal.methods.inputs import Rows, are_texts, check_size, present_pairs, rows_of, spread_over
from shoal.methods.reading import Reading, plan_reading
from shoal.methods.refining import REFINE, Refined
from shoal.n_clusters import AUTO, Hierarchy, Wanted, build_hierarchy, parse_wanted
from shoal.naming import describe_clusters
from shoal.parameters import check_parameters, declared, positional
from shoal.vectors import Vectors

if TYPE_CHECKING:
    from shoal.report import Report
    from shoal.training import Callback


@declared
class TextClusterer(TransformerMixin, ClusterMixin, BaseEstimator):
    """Base of all methods.

    A method implements :meth:`_fit`, which learns and sets ``clusterer_``, and :meth:`_embed`, which maps texts
    to the space of its clusters. Everything else is implemented here, once: also other endings than the method's own
    (``reducer`` and ``clusterer``), and ``refine``.

    Attributes
    ----------
    labels_ : ndarray of int64, shape (n,)
        The cluster of each text; -1 for a row without text.
    probabilities_ : ndarray of float32, shape (n, n_clusters)
        The probability of each cluster.
    cluster_centers_ : ndarray of shape (n_clusters, d)
        Centres in the space of :meth:`transform`.
    n_clusters_ : int
        The number of clusters.
    n_clusters_choice_ : NClusters
        How the number was found, and the levels on offer.
    hierarchy_ : Hierarchy
        The tree of clusters; :meth:`cut` changes their number.
    calibration_ : Calibration
        How scores become probabilities, so that confidence is as high as it deserves.
    clusters_ : tuple of Cluster
        Names, sizes, keywords and examples.
    names_ : list of str
        The names of the clusters.
    start_labels_ : ndarray of int64, shape (n,)
        Labels before any training: k-means on the untrained representation.
    undone_labels_ : ndarray of int64, shape (n,), or None
        Labels of the end of training, if the guard undid it: what ``guard=False`` would have kept.
    history_ : list of dict
        Records of the fit, in order.
    outcome_ : dict
        ``stages``: the outcome of each training stage, with label-free signs before and after it;
        ``rolled_back`` and ``reason``: whether and why training was undone; ``trained``: whether anything of it was
        kept, otherwise the clusters are those of the start; ``choice``: what was chosen, and why.
    reading_ : Reading
        The languages of the texts, and the encoder that reads them.
    truncated_ : int
        Number of texts that were longer than the encoder's limit.
    embedding_ : ndarray of shape (n, d)
        The fitted rows that are not empty, in the space of :meth:`transform`; a loaded model has none.
    texts_ : list of str or None
        The fitted texts that are not empty; None if there were only vectors.
    places_ : ndarray of shape (n, 2) or None
        Their places on the map, once it has been drawn.
    """

    summary: ClassVar[str] = ""
    source: ClassVar[str] = ""
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    takes_pairs: ClassVar[bool] = False

    n_clusters: int | str | tuple[int, int] = positional(
        default=AUTO,
        meaning="The number of clusters; 'auto' finds it from the texts, and so does a range such as '5-80' within its "
        "limits.",
        kw_only=False,
    )
    random_state: int | np.random.RandomState | None = shared.RANDOM_STATE
    reducer: str = REDUCER
    clusterer: str = CLUSTERER
    refine: str = REFINE

    @abstractmethod
    def _fit(self, context: FitContext) -> Vectors:
        """Learn from the rows; set ``clusterer_`` and ``n_features_in_``; return vectors in the clusters' space."""

    @abstractmethod
    def _embed(self, rows: Rows) -> Vectors:
        """Return the vectors of ``rows`` as the method makes them, before any reducer."""

    @abstractmethod
    def _save(self, folder: Path) -> dict[str, Any]:
        """Write what :meth:`_embed` needs to ``folder``; return its entries for ``config.json``."""

    @abstractmethod
    def _restore(self, folder: Path, config: dict[str, Any]) -> None:
        """Read what :meth:`_save` wrote."""

    def _check(self) -> None:
        """Reject parameters that do not work together; each one alone is checked already."""

    def _check_engine(self, engine: Engine) -> None:
        """Reject workers that would have nothing to do."""
        if engine.is_local and engine.n_workers > 1 and not self._trains_encoder():
            raise ParameterError(
                f"workers={engine.n_workers} but the local engine's workers only train, and {type(self).__name__} "
                "trains no encoder as it is set; omit workers, or pass engine 'ray'."
            )

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that vectors become float32."""
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        return tags

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        vectors: Any = None,
        pairs: Any = None,
        checkpoints: Path | None = None,
        callbacks: Sequence[Callback] = (),
        stop_words: Collection[str] = (),
    ) -> Self:
        """Learn the clusters.

        Parameters
        ----------
        X : list of str, Series, DataFrame, Corpus, … or array of shape (n, d)
            Texts, or vectors computed elsewhere.
        y : ignored
            Labels are never used.
        vectors : array-like of shape (n, d), optional
            Vectors of the texts in ``X``, used instead of the method's own representation. Names still come from
            the texts.
        pairs : (list of str, list of str), optional
            For methods that train on augmented views: two views of each row of ``X``, made elsewhere;
            ``augmentation`` is then ignored.
        checkpoints : Path, optional
            Where a method that trains keeps its checkpoints. It continues from the latest, if there is one.
        callbacks : sequence of Callback
            Callbacks of the trainer, for a method that trains; not part of the result.
        stop_words : collection of str
            Words that are never used in names and keywords, besides the function words of the texts' languages.

        Returns
        -------
        self
        """
        self._check_engine(current_engine())
        rows = self._rows(X, vectors, reset=True)
        wanted = parse_wanted(self.n_clusters)
        check_size(rows, wanted.least, self.n_clusters)
        if pairs is not None and not self.takes_pairs:
            raise ParameterError(f"pairs were given but {type(self).__name__} does not train on pairs; omit them.")
        check_parameters(self)
        self._check()
        given = None if pairs is None else present_pairs(Corpus.of(X), pairs)
        context = FitContext(rows, self._generator(), checkpoints, callbacks, given)
        self.truncated_, self.outcome_ = 0, outcome_of()
        self.history_ = context.history
        self.clusterer_: Clusterer
        self.reducer_: Reducer | None = None
        self.refined_: Refined | None = None
        self.own_clusters_ = True
        self.reading_ = self._plan_reading(rows, wanted)
        self._find_n_clusters(rows, wanted, context)
        self._keep(self._end(self._fit(context), context), context, stop_words)
        return self

    def predict(self, X: Any, *, vectors: Any = None) -> NDArray[np.int64]:
        """Return the cluster of each row; -1 for a row without text."""
        return self.predict_clustering(X, vectors=vectors).labels

    def predict_proba(self, X: Any, *, vectors: Any = None) -> NDArray[np.float32]:
        """Return the probability of each cluster for each row, (n, n_clusters)."""
        return self.predict_clustering(X, vectors=vectors).probabilities

    def predict_clustering(self, X: Any, *, vectors: Any = None) -> Clustering:
        """Return labels and probabilities of ``X`` in one object, with this model's clusters."""
        check_is_fitted(self, "clusterer_")
        return clustering_of(self, self._rows(X, vectors))

    def cut(self, level: int | str, *, stop_words: Collection[str] = ()) -> Self:
        """Return this model at another number of clusters, without fitting again.

        Clusters are joined, or cut into parts, along the tree that the fit has built; a text stays within its branch.

        Parameters
        ----------
        level : int or {'coarse', 'medium', 'fine'}
            The number of clusters, up to twice that of the fit, or a level on offer (``n_clusters_choice_.levels``).
        stop_words : collection of str
            Words that are never used in names and keywords, as in :meth:`fit`.

        Returns
        -------
        TextClusterer
            A model of its own that predicts, saves and loads like this one; the fitted model stays as it is.
        """
        check_is_fitted(self, "clusterer_")
        return cast(Self, cut_model(self, level, stop_words))

    def clusters_at(self, level: int | str) -> Clustering:
        """Return the result for the fitted texts at another number of clusters; see :meth:`cut`."""
        return self.cut(level).clustering_

    def labels_at(self, confidence: float) -> NDArray[np.int64]:
        """Return the labels of the fitted texts, -1 for a text whose confidence is below ``confidence``."""
        return self.clustering_.labels_at(confidence)

    def transform(self, X: Any, *, vectors: Any = None) -> Vectors:
        """Return the vectors of ``X`` in the space of the clusters; zeros for a row without text."""
        check_is_fitted(self, "clusterer_")
        return vectors_of(self, self._rows(X, vectors))

    def score(self, X: Any, y: Any = None, *, vectors: Any = None) -> float:
        """Return how far apart the clusters of ``X`` are, without labels: higher is better.

        It is the mean silhouette by cosine distance, from -1 to 1, of the predicted clusters in the space of
        :meth:`transform`; 0 if all texts are in one cluster. ``GridSearchCV(Shoal(), {"n_clusters": [5, 10, 20]})``
        compares by it on held-out texts. It compares settings that share a representation: the silhouettes of two
        representations, as of two backbones, are not on one scale.

        Parameters
        ----------
        X : list of str, Series, DataFrame, Corpus, … or array of shape (n, d)
            Texts, or vectors as in :meth:`fit`.
        y : ignored
            Labels are never used; for scores against known classes see ``shoal.metrics``.
        vectors : array-like of shape (n, d), optional
            Vectors of the texts in ``X``, as in :meth:`fit`.

        Returns
        -------
        float
        """
        from shoal.metrics import silhouette

        labels = self.predict(X, vectors=vectors)
        if len(np.unique(labels[labels != NO_CLUSTER])) < 2:
            return 0.0
        return silhouette(self.transform(X, vectors=vectors), labels, metric="cosine").value

    def before_and_after(self, X: Any) -> tuple[Vectors, Vectors]:
        """Return the vectors of texts before and after training; the same array twice if nothing was trained."""
        vectors = self.transform(X)
        return vectors, vectors

    @property
    def names_(self) -> list[str]:
        """The names of the clusters, by number."""
        check_is_fitted(self, "clusters_")
        return [cluster.name for cluster in self.clusters_]

    @property
    def clustering_(self) -> Clustering:
        """The result for the fitted texts."""
        check_is_fitted(self, "clusters_")
        return Clustering(self.labels_, self.probabilities_, self.clusters_)

    def plot(self, ax: Any = None, *, names: bool = True) -> Any:
        """Draw the map of the fitted texts with matplotlib.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.
        names : bool, default=True
            Whether to write the names of the clusters.

        Returns
        -------
        matplotlib Axes
        """
        from shoal.methods.reporting import contents_of
        from shoal.report.picture import draw_map

        return draw_map(contents_of(self), ax, names=names)

    def report(self) -> Report:
        """Return a page about the fitted texts, which shows itself in a notebook; ``save`` writes it to a file."""
        from shoal.methods.reporting import contents_of
        from shoal.report import make_report

        return make_report(contents_of(self))

    def save(self, folder: str | Path) -> None:
        """Write the model to a new folder, without pickles; :func:`shoal.load` reads it."""
        from shoal.methods.persistence import save_model

        save_model(self, Path(folder))

    def _rows(self, X: Any, vectors: Any = None, reset: bool = False) -> Rows:
        """Turn the user's input into rows; a matrix goes through scikit-learn's own checks."""
        if are_texts(X):
            rows = rows_of(X, vectors)
        else:
            matrix = validate_data(self, X, reset=reset, dtype=[np.float64, np.float32])
            rows = Rows(np.ones(len(matrix), dtype=bool), None, matrix.astype(np.float32))
        if reset:
            self.fitted_on_vectors_ = rows.vectors is not None
        elif rows.vectors is None and self.fitted_on_vectors_:
            raise DataError("this model was fitted on vectors and cannot encode texts; pass vectors= as in fit.")
        elif rows.vectors is not None and rows.vectors.shape[1] != self.n_features_in_:
            raise DataError(
                f"vectors has {rows.vectors.shape[1]} columns but this model was fitted on {self.n_features_in_}; "
                "pass vectors of the representation it was fitted on."
            )
        return rows

    def _generator(self) -> np.random.RandomState:
        """Return the random generator of the fit."""
        generator: np.random.RandomState = check_random_state(self.random_state)
        return generator

    def _plan_reading(self, rows: Rows, wanted: Wanted) -> Reading:
        """Find the languages of the texts, and the encoder that reads them."""
        encodes = self._has_transformer() or wanted.exact is None
        return plan_reading(rows, self.get_params(deep=False), encodes=encodes, trains=self._trains_encoder())

    def _has_transformer(self) -> bool:
        """Tell whether the method encodes texts with a transformer, or with what stands in for one."""
        params = self.get_params(deep=False)
        return "backbone" in params and params.get("representation", TRANSFORMER) in (TRANSFORMER, MEANING_AND_WORDS)

    def _trains_encoder(self) -> bool:
        """Tell whether the method trains its encoder."""
        return False

    def _reading_options(self) -> dict[str, Any]:
        """Return the parameters, with the encoder that was chosen for 'auto'."""
        return {**self.get_params(deep=False), **self.reading_.options}

    def _find_n_clusters(self, rows: Rows, wanted: Wanted, context: FitContext) -> None:
        """Set the number of clusters of this fit."""
        started = time.perf_counter()
        params = self._reading_options()
        encoding = {name: params[name] for name in ENCODING if name in params}
        # Vectors that the fit will need are made here, for all rows, and found in the cache there.
        needed = self._has_transformer() and not self._trains_encoder() and params.get("normalize", True)
        self.n_clusters_choice_ = find_n_clusters(rows, wanted, encoding, whole=needed and params.get("cache", False))
        self.n_clusters_ = self.n_clusters_choice_.chosen
        if wanted.exact is None:
            context.log("n_clusters", started, n_clusters=self.n_clusters_, reason=self.n_clusters_choice_.reason)

    def _meaning(self, embedded: Vectors) -> Vectors:
        """Return the columns of the embedding that come from meaning; all of them unless a method says otherwise."""
        return embedded

    def _typical(self, embedded: Vectors, found: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return how typical of its cluster each row is, a column per description of a text; none by default."""
        return np.empty((len(found), 0), dtype=np.float32)

    def _end(self, embedded: Vectors, context: FitContext) -> Vectors:
        """Replace and refine the method's own clusters if asked to; return the vectors in the clusters' space."""
        return end_fit(self, embedded, context, self._ending_options())

    def _ending_options(self) -> dict[str, Any]:
        """Return the options of another ending that the method has parameters for."""
        params = self.get_params(deep=False)
        return {name: params[name] for name in ("n_init", "device") if name in params}

    def _keep(self, embedded: Vectors, context: FitContext, stop_words: Collection[str]) -> None:
        """Keep what a fit has found, answers for its own rows included."""
        rows = context.rows
        self.embedding_ = embedded
        self.texts_ = rows.texts
        self.places_: NDArray[np.float64] | None = None
        self.n_clusters_ = len(self.clusterer_.centers)
        self.cluster_centers_ = self.clusterer_.centers
        found, scores = assign_in_blocks(self, rows, embedded)
        typical = self._typical(embedded, found)
        self.calibration_: Calibration = calibrate(self._meaning(embedded), rows.texts, found, scores, typical)
        probabilities = probabilities_of(self, scores, typical)
        del scores
        n_parts = max(self.n_clusters_choice_.levels.values())
        self.hierarchy_: Hierarchy | None = build_hierarchy(embedded, found, self.n_clusters_, n_parts)
        self.level_: int | None = None
        self.uncut_: TextClusterer | None = None
        self.labels_, self.probabilities_ = spread_over(rows.present, found, probabilities)
        self.start_labels_ = self.labels_.copy()
        if context.start_labels is not None:
            self.start_labels_[rows.present] = context.start_labels
        self.undone_labels_: NDArray[np.int64] | None = None
        if context.undone_labels is not None:
            self.undone_labels_ = np.full(len(rows.present), -1)
            self.undone_labels_[rows.present] = context.undone_labels
        topics = context.topics or [()] * self.n_clusters_
        self.clusters_ = self.describe_clusters(rows.texts, found, probabilities, topics, stop_words)

    def _assign(self, rows: Rows, embedded: Vectors) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return the cluster and scores of each row, by the method's own rule; by default the best score counts."""
        return assign_by_scores(self, rows, embedded)

    def describe_clusters(
        self,
        texts: list[str] | None,
        labels: NDArray[np.int64],
        probabilities: NDArray[np.float32],
        topics: Sequence[tuple[Topic, ...]],
        stop_words: Collection[str] = (),
    ) -> tuple[Cluster, ...]:
        """Name the clusters from their texts, or by number if there are only vectors."""
        return describe_clusters(texts, labels, probabilities, topics, stop_words)
