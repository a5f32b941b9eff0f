"""TSDAE: a sequential denoising auto-encoder of sentences (Wang et al., EMNLP 2021), then k-means."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from shoal.clusterers import Clusterer, Vectors, fit_kmeans
from shoal.encoder.backbone import layer_stack
from shoal.encoder.decoder import VOCABULARIES, SentenceDecoder, corpus_vocabulary
from shoal.encoder.noise import delete_tokens
from shoal.encoder.tokens import special_tokens
from shoal.methods.checks import check_choices, check_counts, check_positive, check_shares, given
from shoal.methods.inputs import Rows
from shoal.methods.reclustered import ReclusteredClusterer
from shoal.training import Batch, CorpusViews, Objective, Stage, best_kmeans, kmeans_from

PAPER_TRAINING = {
    "pooling": "cls",
    "normalize": False,
    "scale": 1.0,
    "decoder_layers": None,
    "vocabulary": "full",
    "batch_size": 8,
    "learning_rate": 2e-5,
    "head_learning_rate": 2e-5,
    "trainable_layers": "all",
}
PRESETS: dict[str, dict[str, Any]] = {
    "paper": {**PAPER_TRAINING, "epochs": 2, "backbone": "roberta-base"},
    "paper-offline": {**PAPER_TRAINING, "epochs": 2},
}


class DenoisingObjective(Objective):
    """What is said of a text by the vector of a damaged copy.

    Parameters
    ----------
    encoder : nn.Module
        Gives the vectors.
    decoder : SentenceDecoder
        Asks the text back.
    special : tuple of int
        How many special tokens stand before and behind a text; they are never deleted.
    deletion, scale, n_init
        As in :class:`TSDAE`.
    """

    def __init__(
        self,
        encoder: nn.Module,
        decoder: SentenceDecoder,
        *,
        special: tuple[int, int],
        deletion: float,
        scale: float,
        n_init: int,
    ) -> None:
        super().__init__(encoder)
        self.decoder = decoder
        self.special = special
        self.deletion, self.scale, self.n_init = deletion, scale, n_init

    def damaged(self, batch: Batch) -> Tensor:
        """Return z of the damaged texts, with noise that is new at each call."""
        noisy = delete_tokens(batch.tokens, batch.views[0], self.deletion, *self.special)
        z: Tensor = self.encoder(noisy, np.arange(len(batch)))
        return self.scale * z.float()

    def reconstruction(self, z: Tensor, batch: Batch) -> Tensor:
        """Return the mean cross-entropy of the undamaged texts, given z (eq. 1)."""
        costs: Tensor = self.decoder(z, batch.tokens, batch.views[0])
        return costs.mean()

    def labels(self, embeddings: Vectors) -> NDArray[np.int64]:
        """Return the clusters that :meth:`clusterer` gives."""
        found: NDArray[np.int64] = self.clusterer(embeddings).scores(embeddings).argmax(axis=1)
        return found

    @abstractmethod
    def clusterer(self, embeddings: Vectors, rng: np.random.RandomState | None = None) -> Clusterer:
        """Return the partition of the space as it stands; with ``rng`` k-means may try new starts."""


class TSDAEObjective(DenoisingObjective):
    """Equation 1: the undamaged text is to be written down from the damaged text's vector.

    Parameters
    ----------
    encoder, decoder, options
        As in :class:`DenoisingObjective`.
    n_clusters, dimension : int
        Size of the partition that the looks at the corpus follow; no loss knows of it.
    """

    centers: Tensor

    def __init__(
        self, encoder: nn.Module, decoder: SentenceDecoder, *, n_clusters: int, dimension: int, **options: Any
    ) -> None:
        super().__init__(encoder, decoder, **options)
        self.register_buffer("centers", torch.zeros(n_clusters, dimension))

    def initialise(self, embeddings: Vectors, rng: np.random.RandomState) -> None:
        """Find the clusters by k-means."""
        found = fit_kmeans(embeddings, len(self.centers), rng, n_init=self.n_init).centers
        self.centers.copy_(torch.from_numpy(found))

    def forward(self, batch: Batch) -> dict[str, Tensor]:
        """Return the loss of equation 1."""
        return {"reconstruction": self.reconstruction(self.damaged(batch), batch)}

    def clusterer(self, embeddings: Vectors, rng: np.random.RandomState | None = None) -> Clusterer:
        """Return k-means from the starting clusters' centres; with ``rng`` from new starts too."""
        centers = self.centers.cpu().numpy()
        if rng is None:
            return kmeans_from(embeddings, centers)
        return best_kmeans(embeddings, centers, rng, n_init=self.n_init)


class TSDAE(ReclusteredClusterer):
    """Transformer-based Sequential Denoising Auto-Encoder, and k-means on its vectors.

    Each step deletes tokens of the texts, encodes what is left, and asks a decoder that sees nothing but the vector
    for the whole text. All that is needed to write the text must then be in the vector.

    Parameters
    ----------
    n_clusters : int, default=8
        The number of clusters.
    backbone : str, default="builtin"
        The built-in model, a folder, or a hub name; of the BERT, RoBERTa, DistilBERT or MPNet family.
    pooling : {"mean", "cls"}, default="mean"
        z: mean over the tokens, or the first token's state as in the paper. The built-in encoder was trained with
        the mean, and its first token's state means little.
    max_length : int, default=32
        The most tokens that are read of a text, and written.
    normalize : bool, default=True
        Unit vectors. A departure: the built-in encoder was trained on cosines.
    scale : float, default=6.0
        What the vectors are multiplied with before the decoder, so that unit vectors are as long there as the
        built-in encoder's raw ones.
    deletion : float, default=0.6
        Probability that a token is deleted.
    decoder_layers : int or None, default=1
        How many of the encoder's last layers decode; None for all, as in the paper. Less work, and a decoder that
        can do little alone leaves more to the vector.
    vocabulary : {"corpus", "full"}, default="corpus"
        The softmax over the tokens that the corpus has, or over all; see
        :class:`~shoal.encoder.decoder.SentenceDecoder`.
    assign : {"kmeans", "idec", "umap+kmeans", "umap+idec"}, default="kmeans"
        What makes the final labels of the vectors: k-means or IDEC, on them or on UMAP's ``n_clusters`` + 1
        dimensions of them (table 3 of ClusterBERT).
    n_init : int, default=10
        Starts of the first k-means and of the last.
    batch_size, learning_rate : int and float, default=64 and 1.6e-4
        8 and 2e-5 in ClusterBERT. A CPU is faster with larger batches; the rate grows with the batch.
    head_learning_rate : float, default=5e-4
        Of what is new: the decoder's attention to z and its output layer; 2e-5 in ClusterBERT, over many more steps.
    epochs, max_steps : int, default=2 and None
        Passes over the corpus, and the most steps.
    optimizer, weight_decay, schedule, warmup_steps, clip_norm, accumulate
        See :class:`shoal.training.TrainingOptions`.
    trainable_layers : "all" or int, default=2
        Train everything, as the paper does, or the last so many layers. The rest is then computed once for the looks
        at the corpus, but again at each step, without gradients, for the damaged texts, which are never the same.
    evaluate_every, tolerance, checkpoint_every, device, precision, log_to
        As in :class:`shoal.methods.sccl.SCCL`.
    random_state : int, RandomState or None, default=0
        Seed.

    Attributes
    ----------
    encoder_ : TransformerEncoder
        The encoder after training; the decoder has done its work and is not kept.
    outcome_ : dict
        Label-free signs before and after, and whether and why the training was rolled back.

    References
    ----------
    Wang, Reimers and Gurevych (2021), *TSDAE: Using Transformer-based Sequential Denoising Auto-Encoder for
    Unsupervised Sentence Embedding Learning*, Findings of EMNLP.

    Examples
    --------
    >>> from shoal.methods.tsdae import TSDAE
    >>> texts = ["red apple", "green apple", "ripe apple", "fast car", "slow car", "new car"]
    >>> model = TSDAE(n_clusters=2, max_steps=1).fit(texts)
    >>> bool((model.predict(texts) == model.labels_).all())
    True
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        backbone: str = "builtin",
        pooling: str = "mean",
        max_length: int = 32,
        normalize: bool = True,
        scale: float = 6.0,
        deletion: float = 0.6,
        decoder_layers: int | None = 1,
        vocabulary: str = "corpus",
        assign: str = "kmeans",
        n_init: int = 10,
        batch_size: int = 64,
        epochs: int = 2,
        max_steps: int | None = None,
        learning_rate: float = 1.6e-4,
        head_learning_rate: float = 5e-4,
        optimizer: str = "adam",
        weight_decay: float = 0.0,
        schedule: str = "constant",
        warmup_steps: int = 0,
        clip_norm: float | None = None,
        accumulate: int = 1,
        trainable_layers: str | int = 2,
        evaluate_every: int | None = None,
        tolerance: float | None = None,
        checkpoint_every: int = 25,
        device: str = "auto",
        precision: str = "auto",
        log_to: str | None = None,
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.backbone = backbone
        self.pooling = pooling
        self.max_length = max_length
        self.normalize = normalize
        self.scale = scale
        self.deletion = deletion
        self.decoder_layers = decoder_layers
        self.vocabulary = vocabulary
        self.assign = assign
        self.n_init = n_init
        self.batch_size = batch_size
        self.epochs = epochs
        self.max_steps = max_steps
        self.learning_rate = learning_rate
        self.head_learning_rate = head_learning_rate
        self.optimizer = optimizer
        self.weight_decay = weight_decay
        self.schedule = schedule
        self.warmup_steps = warmup_steps
        self.clip_norm = clip_norm
        self.accumulate = accumulate
        self.trainable_layers = trainable_layers
        self.evaluate_every = evaluate_every
        self.tolerance = tolerance
        self.checkpoint_every = checkpoint_every
        self.device = device
        self.precision = precision
        self.log_to = log_to
        self.random_state = random_state

    def _fit(self, rows: Rows, rng: np.random.RandomState) -> Vectors:
        vectors = super()._fit(rows, rng)
        del self._corpus  # only the stages needed it
        return vectors

    def _views(self, texts: list[str], seed: int) -> CorpusViews:
        layer_stack(self.encoder_.model)  # before all else: a backbone that cannot decode is of no use here
        self._corpus = CorpusViews.repeated(self.encoder_.tokenise(texts), 1)
        return self._corpus

    def _stages(self, encoder: nn.Module) -> list[Stage]:
        sizes = {"n_clusters": self.n_clusters, "dimension": self.encoder_.dimension}
        objective = TSDAEObjective(encoder, self._decoder(), **sizes, **self._denoising_options())
        return [Stage("reconstruction", objective)]

    def _decoder(self) -> SentenceDecoder:
        """Build the decoder, its weights tied with ``encoder_``."""
        used = corpus_vocabulary(self._corpus.tokens) if self.vocabulary == "corpus" else None
        return SentenceDecoder(self.encoder_, n_layers=self.decoder_layers, vocabulary=used)

    def _denoising_options(self) -> dict[str, Any]:
        """Return what every stage's objective is told."""
        before, behind = special_tokens(self.encoder_.tokenizer)
        return {
            "special": (len(before), len(behind)),
            "deletion": self.deletion,
            "scale": self.scale,
            "n_init": self.n_init,
        }

    def _final_clusterer(
        self, stages: Sequence[Stage], vectors: Vectors, rng: np.random.RandomState | None
    ) -> Clusterer:
        return cast(DenoisingObjective, stages[-1].objective).clusterer(vectors, rng)

    def _check_parameters(self) -> None:
        params = self.get_params(deep=False)
        check_choices(params, {"vocabulary": VOCABULARIES, "assign": self.assignments})
        check_shares(params, ["deletion"])
        check_positive(params, {"scale": 6})
        check_counts(params, ("n_init", *given(params, "decoder_layers")))
