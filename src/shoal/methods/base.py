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

from shoal.clusterers import Centroids, Clusterer, Reducer
from shoal.clustering import NO_CLUSTER, Cluster, Clustering, Topic
from shoal.corpus import Corpus
from shoal.encoder.representation import MEANING_AND_WORDS, TRANSFORMER
from shoal.engine import Engine, current_engine
from shoal.errors import DataError, ParameterError, RunFolderError
from shoal.methods import shared_parameters as shared
from shoal.methods.calibration import Calibration, calibrate
from shoal.methods.context import FitContext, outcome_of
from shoal.methods.endings import CLUSTERER, NONE, OWN, REDUCER, reduce_and_cluster
from shoal.methods.granularity import ENCODING, cut_model, find_n_clusters
from shoal.methods.inputs import Rows, are_texts, present_pairs, rows_of, spread_over
from shoal.methods.reading import Reading, plan_reading
from shoal.methods.refining import REFINE, Refined, refine
from shoal.n_clusters import AUTO, Hierarchy, Wanted, build_hierarchy, parse_wanted
from shoal.naming import describe
from shoal.parameters import check_parameters, declared, positional, shown
from shoal.scratch import ROWS_AT_A_TIME, in_blocks, scratch
from shoal.vectors import Vectors, cluster_means

if TYPE_CHECKING:
    from shoal.report import Report
    from shoal.training import Callback

# The same text encoded among other texts differs in the seventh digit. A row whose two best scores are closer
# than this (relative to their size) is encoded and scored alone, so that its label never depends on the others.
TIE = 1e-4
# Names come from the beginning of each text: one text of megabytes must not outweigh the others, or slow naming down.
NAMED_CHARACTERS = 20_000


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
        self._check_size(rows, wanted)
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
        self.reading_ = self._plan_reading(rows, wanted)
        self._find_n_clusters(rows, wanted, context)
        embedded = self.embedding_ = self._end(self._fit(context), context)
        self.texts_ = rows.texts
        self.places_: NDArray[np.float64] | None = None
        self.n_clusters_ = len(self.clusterer_.centers)
        self.cluster_centers_ = self.clusterer_.centers
        found, scores = self._answer_in_blocks(rows, embedded)
        typical = self._typical(embedded, found)
        self.calibration_: Calibration = calibrate(self._meaning(embedded), rows.texts, found, scores, typical)
        probabilities = self._probabilities(scores, typical)
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
        rows = self._rows(X, vectors)
        if not len(rows):
            labels = np.empty(0, dtype=np.int64)
            return Clustering(
                *spread_over(rows.present, labels, np.empty((0, self.n_clusters_), np.float32)), self.clusters_
            )
        embedded = self._place(rows)
        found, scores = self._answer(rows, embedded)
        if not (found.min() >= NO_CLUSTER and found.max() < scores.shape[1]):
            raise RunFolderError(
                f"this model is damaged: it names cluster {found.max()} of {scores.shape[1]}; fit it again."
            )
        return Clustering(*spread_over(rows.present, *self._at_level(embedded, found, scores)), self.clusters_)

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
        rows = self._rows(X, vectors)
        embedded = self._place(rows) if len(rows) else np.empty((0, self.cluster_centers_.shape[1]), np.float32)
        out = np.zeros((len(rows.present), self.cluster_centers_.shape[1]), dtype=np.float32)
        out[rows.present] = embedded
        return out

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

    def _check_size(self, rows: Rows, wanted: Wanted) -> None:
        """Reject a number of clusters that the corpus cannot fill."""
        if not len(rows):
            raise DataError(f"all {len(rows.present)} texts are empty; there is nothing to cluster.")
        items: Any = rows.texts if rows.texts is not None else (row.tobytes() for row in rows.vectors)  # type: ignore[union-attr]
        distinct = len(set(items))
        if wanted.least > distinct:
            found = (
                f"the corpus has {len(rows)} texts, {distinct} of them distinct"
                if rows.texts is not None
                else f"there are n_samples={len(rows)} vectors, {distinct} of them distinct"
            )
            raise ParameterError(f"n_clusters={shown(self.n_clusters)} but {found}; pass n_clusters <= {distinct}.")

    def _plan_reading(self, rows: Rows, wanted: Wanted) -> Reading:
        """Find the languages of the texts, and the encoder that reads them."""
        params = self.get_params(deep=False)
        encodes = "backbone" in params and params.get("representation", TRANSFORMER) in (TRANSFORMER, MEANING_AND_WORDS)
        return plan_reading(rows, params, encodes=encodes or wanted.exact is None, trains=self._trains_encoder())

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
        self.n_clusters_choice_ = find_n_clusters(rows, wanted, encoding)
        self.n_clusters_ = self.n_clusters_choice_.chosen
        if wanted.exact is None:
            context.log("n_clusters", started, n_clusters=self.n_clusters_, reason=self.n_clusters_choice_.reason)

    def _meaning(self, embedded: Vectors) -> Vectors:
        """Return the columns of the embedding that come from meaning; all of them unless a method says otherwise."""
        return embedded

    def _typical(self, embedded: Vectors, found: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return how typical of its cluster each row is, a column per description of a text; none by default."""
        return np.empty((len(found), 0), dtype=np.float32)

    def _probabilities(self, scores: NDArray[np.float64], typical: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the probability of each of the fit's clusters."""
        probabilities = scratch(scores.shape)
        for block in in_blocks(probabilities, scores):
            probabilities[block] = self.calibration_.probabilities(scores[block], typical[block])
        return probabilities

    def _at_level(
        self, embedded: Vectors, found: NDArray[np.int64], scores: NDArray[np.float64]
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Return labels and probabilities at the number of clusters that the model was cut to."""
        probabilities = self._probabilities(scores, self._typical(embedded, found))
        if self.level_ is None or self.hierarchy_ is None:
            return found, probabilities
        return self.hierarchy_.regroup(embedded, found, probabilities, self.level_)

    def _end(self, embedded: Vectors, context: FitContext) -> Vectors:
        """Replace and refine the method's own clusters if asked to; return the vectors in the clusters' space."""
        if (self.reducer, self.clusterer) != (NONE, OWN):
            started = time.perf_counter()
            self.reducer_, embedded, self.clusterer_ = reduce_and_cluster(
                self.reducer, self.clusterer, embedded, self.n_clusters_, context, self._ending_options()
            )
            context.topics = None  # they are those of other clusters
            if isinstance(outcome := getattr(self.clusterer_, "outcome", None), dict):
                self.outcome_["idec"] = outcome
            context.log("cluster", started, dimension=embedded.shape[1])
        self.own_clusters_ = (self.reducer, self.clusterer) == (NONE, OWN)
        if self.refine != NONE:
            started = time.perf_counter()
            labels, _ = self._answer(context.rows, embedded)
            n_clusters = len(self.clusterer_.centers)
            self.refined_, n_iter = refine(context.rows, embedded, labels, n_clusters, context.rng)
            refined = self.refined_.scores(context.rows, embedded).argmax(axis=1)
            self.clusterer_ = Centroids.around(cluster_means(embedded, refined, n_clusters), embedded)
            self.own_clusters_ = False
            context.log("refine", started, iterations=n_iter)
        return embedded

    def _ending_options(self) -> dict[str, Any]:
        """Return the options of another ending that the method has parameters for."""
        params = self.get_params(deep=False)
        return {name: params[name] for name in ("n_init", "device") if name in params}

    def _place(self, rows: Rows) -> Vectors:
        """Return the vectors of rows in the space of the clusters."""
        vectors = self._embed(rows)
        return vectors if self.reducer_ is None else self.reducer_.transform(vectors)

    def _answer(self, rows: Rows, embedded: Vectors) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return the cluster and scores of each row: by the method's own rule, unless its clusters were replaced."""
        return self._assign(rows, embedded) if self.own_clusters_ else TextClusterer._assign(self, rows, embedded)

    def _answer_in_blocks(self, rows: Rows, embedded: Vectors) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return the cluster and scores of each row, of many rows block by block."""
        if len(rows) <= ROWS_AT_A_TIME:
            return self._answer(rows, embedded)
        found = np.empty(len(rows), dtype=np.int64)
        scores = scratch((len(rows), self.n_clusters_), np.float64)
        for block in in_blocks(embedded, scores):
            some = rows.take(np.arange(block.start, block.stop))
            found[block], scores[block] = self._answer(some, embedded[block])
        return found, scores

    def _assign(self, rows: Rows, embedded: Vectors) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return the cluster and scores of each row; rows with near ties are scored alone (see ``TIE``)."""
        scores = self._scores(rows, embedded)
        truncated = self.truncated_
        if scores.shape[1] > 1:
            second, first = np.partition(scores, -2, axis=1)[:, -2:].T
            for i in np.flatnonzero(first - second < TIE * np.maximum(1, np.abs(first))):
                alone = rows.row(int(i))
                scores[i] = self._scores(alone, self._place(alone))[0]
        self.truncated_ = truncated  # of all rows, not of the last one that was scored alone
        return scores.argmax(axis=1).astype(np.int64), scores

    def _scores(self, rows: Rows, embedded: Vectors) -> NDArray[np.float64]:
        """Return the scores of rows, by the clusterer or by the classifier that refines it."""
        return self.clusterer_.scores(embedded) if self.refined_ is None else self.refined_.scores(rows, embedded)

    def describe_clusters(
        self,
        texts: list[str] | None,
        labels: NDArray[np.int64],
        probabilities: NDArray[np.float32],
        topics: Sequence[tuple[Topic, ...]],
        stop_words: Collection[str] = (),
    ) -> tuple[Cluster, ...]:
        """Name the clusters from their texts, or by number if there are only vectors."""
        sizes = np.bincount(labels, minlength=self.n_clusters_)
        own = probabilities[np.arange(len(labels)), labels]
        confidence = np.bincount(labels, own, self.n_clusters_) / np.maximum(sizes, 1)
        facts = [(k, int(sizes[k]), float(confidence[k])) for k in range(self.n_clusters_)]
        if texts is None:
            return tuple(Cluster(k, f"cluster {k}", size, mean) for k, size, mean in facts)
        heads = [text[:NAMED_CHARACTERS] for text in texts]
        telling = [{word for topic in own if not topic.general for word in topic.words} for own in topics]
        found = describe(
            heads,
            labels,
            self.n_clusters_,
            centrality=own,
            own_stop_words=stop_words,
            telling=telling,
        )
        return tuple(
            Cluster(k, about.name, size, mean, about.keywords, tuple(texts[i] for i in about.examples), own)
            for (k, size, mean), about, own in zip(facts, found, topics, strict=True)
        )
