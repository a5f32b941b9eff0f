"""TSDAE: a sequential denoising auto-encoder of sentences (Wang et al., EMNLP 2021), then k-means."""

from __future__ import annotations

from typing import Any

from shoal.methods import denoising
from shoal.methods import shared_parameters as shared
from shoal.methods.fine_tuned import FineTuned, Material
from shoal.methods.objectives.denoising import TSDAEObjective
from shoal.parameters import declared
from shoal.training import Stage
from shoal.training.options import TRAINING

PRESETS: dict[str, dict[str, Any]] = {
    "paper": {**denoising.PAPER, "epochs": 2, "backbone": "roberta-base"},
    "paper-offline": {**denoising.PAPER, "epochs": 2},
}


@declared
class TSDAE(FineTuned):
    """Transformer-based Sequential Denoising Auto-Encoder, and k-means on its vectors.

    Each step deletes tokens from the texts, encodes the rest, and trains a decoder that sees only the vector to write
    the whole text. The vector must then hold everything needed to write the text.

    Attributes
    ----------
    encoder_ : TransformerEncoder
        The encoder after training; the decoder is discarded.

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

    summary = "fine-tuning: a denoising auto-encoder of sentences, then k-means"
    source = "TSDAE (Wang et al. 2021); ClusterBERT (baseline)"
    presets = PRESETS

    backbone: str = denoising.BACKBONE
    pooling: str = denoising.POOLING
    scale: float = denoising.SCALE
    deletion: float = denoising.DELETION
    decoder_layers: int | None = denoising.DECODER_LAYERS
    vocabulary: str = denoising.VOCABULARY
    batch_size: int = denoising.BATCH_SIZE
    epochs: int = TRAINING["epochs"].but(2)
    learning_rate: float = denoising.LEARNING_RATE
    head_learning_rate: float = denoising.HEAD_LEARNING_RATE
    tolerance: float | None = shared.TOLERANCE.but(None)

    def _stages(self, material: Material) -> list[Stage]:
        objective = TSDAEObjective(
            material.encoder,
            denoising.make_decoder(self, material),
            n_clusters=self.n_clusters_,
            dimension=self.encoder_.dimension,
            **denoising.objective_options(self),
        )
        return [Stage("reconstruction", objective)]
