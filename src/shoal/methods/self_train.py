"""Self-Train: a self-training approach for short text clustering (Hadifar et al., RepL4NLP 2019)."""

from __future__ import annotations

from functools import partial
from typing import Any

from shoal.encoder.auto_encoder import AutoEncoder
from shoal.methods import shared_parameters as shared
from shoal.methods.auto_encoded import AutoEncoded
from shoal.methods.dec import clustering_stage
from shoal.methods.objectives.dec import DECObjective
from shoal.parameters import FLAG, declared, parameter, parameters_of
from shoal.training import Stage
from shoal.training.options import TRAINING

CODE = 20
# What the authors' code sets; its update intervals, 100 to 500 steps, and its numbers of steps differ by data set.
PRESETS: dict[str, dict[str, Any]] = {
    "paper": {
        "word_vectors": "word2vec",
        "word_frequencies": "corpus",
        "sif_a": 0.1,
        "unit_length": False,
        "hidden": [500, 500, 2000],
        "n_components": 20,
        "pretrain_epochs": 15,
        "n_init": 100,
        "batch_size": 64,
        "update_interval": 500,
        "max_steps": 1500,
        "tolerance": 1e-4,
        "guard": False,
    },
}


@declared
class SelfTrain(AutoEncoded):
    """SIF vectors, an auto-encoder pre-trained layer by layer, then self-training.

    Sentence vectors by smooth inverse frequency become codes of an auto-encoder. Encoder and centres then learn the
    sharpened target of their own Student-t assignment, as in DEC; the target is renewed every ``update_interval``
    steps, and training stops when fewer labels than ``tolerance`` have changed in between.

    References
    ----------
    Hadifar, Sterckx, Demeester and Develder (2019), *A Self-Training Approach for Short Text Clustering*, RepL4NLP.

    Examples
    --------
    >>> from shoal.methods.self_train import SelfTrain
    >>> texts = ["red apple", "green apple", "ripe red apple", "fast car", "slow car", "new fast car"]
    >>> model = SelfTrain(n_clusters=2, pretrain_epochs=20, max_steps=5).fit(texts)
    >>> bool((model.predict(texts) == model.labels_).all())
    True
    """

    summary = "SIF word vectors, an auto-encoder pre-trained layer by layer, self-training as in DEC"
    source = "Self-Train (Hadifar et al. 2019); SCCL, ClusterBERT (baseline)"
    presets = PRESETS

    representation: Any = shared.REPRESENTATION.but("sif")
    word_frequencies: str = shared.WORD_FREQUENCIES.but(
        "wordfreq",
        shared.WORD_FREQUENCIES.meaning
        + " The authors count their texts, with sif_a=0.1, which leaves all weights near 1.",
    )
    unit_length: bool = parameter(
        True,
        "Scale SIF vectors to length one. The authors scale each coordinate to the range from 0 to 1, which keeps the "
        "lengths: they follow the number of words, not the topic.",
        FLAG,
    )
    pretraining: str = parameters_of(AutoEncoded)["pretraining"].but("layer-wise")
    n_components: int | None = parameters_of(AutoEncoded)["n_components"].but(
        meaning="Length of the code; by default 20, as in the authors' code, whose data sets have 8 and 20 clusters, "
        "or K + 1 if that is more."
    )
    epochs: int = TRAINING["epochs"].but(50, "Maximum number of passes over the corpus after pre-training.")
    alpha: float = shared.ALPHA
    update_interval: int | None = shared.UPDATE_INTERVAL
    tolerance: float | None = shared.TOLERANCE.but(0.001, shared.TOLERANCE.meaning + " 0.0001 in the authors' code.")

    def _sizes(self, dimension: int) -> tuple[int, ...]:
        *widths, code = super()._sizes(dimension)
        return (*widths, code if self.n_components else max(code, CODE))

    def _stages(self, auto_encoder: AutoEncoder, n_texts: int) -> list[Stage]:
        return [clustering_stage(self, partial(DECObjective, auto_encoder.encoder), auto_encoder, n_texts)]
