"""STCC: self-taught convolutional neural networks for short text clustering (Xu et al., Neural Networks 2017)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from shoal.clusterers import fit_kmeans
from shoal.encoder.word_convolution import WordConvolution, WordRows
from shoal.encoder.word_statistics import WordStatistics
from shoal.encoder.word_vectors import word_vectors
from shoal.errors import DataError
from shoal.methods import shared_parameters as shared
from shoal.methods.base import TextClusterer
from shoal.methods.context import FitContext, saved_outcome
from shoal.methods.inputs import Rows
from shoal.methods.objectives.stcc import CODES, CodeObjective, binary_codes
from shoal.methods.run_stages import run_stages, training_options
from shoal.parameters import declared, one_of, optional, parameter, share_of, whole
from shoal.text.words import split_words
from shoal.training import Stage, VectorCorpus, seeded
from shoal.training.options import TRAINING
from shoal.vectors import Vectors

PRESETS: dict[str, dict[str, Any]] = {
    # The authors' word vectors come from large corpora of the same kind as each data set; Word2Vec on the texts is the
    # nearest to it that needs no other data. Their optimiser is AdaGrad at 0.01.
    "paper": {"word_vectors": "word2vec", "codes": "lpi", "n_bits": 80, "epochs": 10},
}


@declared
class STCC(TextClusterer):
    """Self-Taught Convolutional neural network for short text Clustering.

    Word counts of the texts are reduced to few dimensions, each of which is cut at its median: a binary code. A
    convolutional network over the word vectors learns to predict the codes, and in doing so what words mean here; its
    last hidden layer, at unit length, is clustered by k-means.

    Attributes
    ----------
    encoder_ : WordConvolution
        The network after training.

    References
    ----------
    Xu, Xu, Wang, Zheng, Tian, Zhao and Xu (2017), *Self-Taught Convolutional Neural Networks for Short Text
    Clustering*, Neural Networks.

    Examples
    --------
    >>> from shoal.methods.stcc import STCC
    >>> texts = ["red apple", "green apple", "ripe red apple", "fast car", "slow car", "new fast car"]
    >>> model = STCC(n_clusters=2, epochs=2).fit(texts)
    >>> bool((model.predict(texts) == model.labels_).all())
    True
    """

    summary = "a convolutional network over word vectors, trained to predict binary codes of the texts; then k-means"
    source = "STCC (Xu et al. 2017); SCCL, DECCRL (baseline)"
    presets = PRESETS

    word_vectors: str = shared.WORD_VECTORS.but(
        meaning="Source of the word vectors: 'corpus' or 'word2vec' (trained on the texts), 'glove', or a file."
    )
    word_dimension: int = parameter(
        48, "Length of word vectors that are learnt from the texts, as in the paper.", whole()
    )
    codes: str = parameter(
        "laplacian",
        "What the codes are made from: mean word vectors ('average'), or TF-IDF by latent semantic analysis ('lsa'), "
        "Laplacian eigenmaps ('laplacian') or locality preserving indexing ('lpi').",
        one_of(*CODES),
    )
    n_bits: int | None = parameter(
        None, "Bits of a code; 10 to 80 in the paper, by data set. By default twice n_clusters.", optional(whole())
    )
    max_length: int = shared.MAX_LENGTH.but(40, "Maximum number of words read per text.")
    drop: float = parameter(
        0.5, "Share of the last hidden layer that training hides, as in the paper.", share_of("the values")
    )
    n_init: int = shared.N_INIT
    epochs: int = TRAINING["epochs"].but(10, "Passes over the corpus; 2 to 40 in the paper, by data set.")
    batch_size: int = TRAINING["batch_size"].but(200, "Texts per batch, as in the paper.")
    max_steps: int | None = TRAINING["max_steps"]
    learning_rate: float = TRAINING["learning_rate"].but(1e-3, "Learning rate of Adam; the paper has AdaGrad at 0.01.")
    checkpoint_every: int = TRAINING["checkpoint_every"].but(200)
    device: str = TRAINING["device"]
    log_to: str | None = shared.LOG_TO

    def _fit(self, context: FitContext) -> Vectors:
        texts = context.rows.texts
        if texts is None or context.rows.vectors is not None:
            raise DataError("STCC reads the words of texts and cannot start from vectors; pass texts without vectors=.")
        seed = context.draw_seed()
        options = training_options(self, seed, head_learning_rate=self.learning_rate)
        known, table = word_vectors(self.word_vectors, texts, dimension=self.word_dimension, seed=seed % 2**31)
        used = _used(known, texts)
        self.words_ = WordRows([known[i] for i in used], self.max_length)
        rows = self.words_.rows(texts)
        averages = _averages(rows, table[used])
        start = fit_kmeans(averages, self.n_clusters_, np.random.RandomState(seed), n_init=self.n_init)
        context.start_labels = start.scores(averages).argmax(axis=1)
        weights = WordStatistics(n_components=1).fit(texts).tfidf(texts)
        codes = binary_codes(self.codes, weights, averages, self.n_bits or 2 * self.n_clusters_)
        with seeded(seed):  # initial weights of the network
            self.encoder_ = WordConvolution(table[used])
            objective = CodeObjective(self.encoder_, codes, dimension=self.encoder_.dimension, drop=self.drop)
        # There are no clusters before the end, and so nothing to watch.
        stages = [Stage("codes", objective, watched=False)]
        run_stages(self, VectorCorpus(rows, options.resolve_device()), stages, options, context, texts)
        vectors = self._embed(context.rows)
        self.n_features_in_ = vectors.shape[1]
        self.clusterer_ = fit_kmeans(vectors, self.n_clusters_, np.random.RandomState(seed), n_init=self.n_init)
        return vectors

    def _embed(self, rows: Rows) -> Vectors:
        if rows.texts is None or rows.vectors is not None:
            raise DataError("STCC encodes texts itself; pass texts without vectors=.")
        return self.encoder_.encode(self.words_.rows(rows.texts))

    def _save(self, folder: Path) -> dict[str, Any]:
        self.encoder_.save(folder, self.words_)
        return {"outcome": self.outcome_}

    def _restore(self, folder: Path, config: dict[str, Any]) -> None:
        self.encoder_, self.words_ = WordConvolution.load(folder)
        self.outcome_ = saved_outcome(config["outcome"])
        self.fitted_on_vectors_ = False


def _used(words: list[str], texts: list[str]) -> list[int]:
    """Return the places of the words that occur in the texts: most of a large table is of no use."""
    there = {word.text.lower() for text in texts for word in split_words(text)}
    return [place for place, word in enumerate(words) if word in there]


def _averages(rows: Vectors, table: np.ndarray[Any, Any]) -> Vectors:
    """Return the mean word vector of each text; zeros for a text without a known word."""
    padded = np.concatenate([np.zeros((1, table.shape[1])), table]).astype(np.float32)
    numbers = rows.astype(np.int64)
    means: Vectors = padded[numbers].sum(axis=1)
    means /= np.maximum((numbers > 0).sum(axis=1, keepdims=True), 1)
    return means
