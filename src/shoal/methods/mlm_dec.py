"""MLM + DEC: unsupervised fine-tuning for text clustering (Huang et al., COLING 2020)."""

from __future__ import annotations

from typing import Any

import numpy as np

from shoal.encoder.masked_head import load_masked_head, new_masked_head
from shoal.encoder.masking import Masking
from shoal.errors import ParameterError
from shoal.methods import shared_parameters as shared
from shoal.methods.fine_tuned import FineTuned, Material
from shoal.methods.objectives.mlm_dec import HeadWarmUp, MLMDECObjective
from shoal.parameters import declared, number, parameter, share_of, whole
from shoal.training import Stage
from shoal.training.options import TRAINING

WARM_UP, JOINT = "warm-up", "joint"

_PAPER_TRAINING = {
    "max_length": 128,
    "normalize": False,
    "scale": 1.0,
    "masked_lm": 1 / 16,
    "batch_size": 16,
    "epochs": 10,
    "learning_rate": 3e-5,
    "head_learning_rate": 3e-5,
    "trainable_layers": "all",
    "tolerance": 0.001,
    "guard": False,
}
PRESETS: dict[str, dict[str, Any]] = {
    "paper": {**_PAPER_TRAINING, "backbone": "bert-base-uncased"},
    "paper-offline": _PAPER_TRAINING,
}


@declared
class MLMDEC(FineTuned):
    """MLM + DEC: a masked language model and a clustering loss on one encoder.

    Minimises L = L_m + L_c (equation 1): the mean negative log-likelihood of the masked tokens, and the sum over the
    texts of KL[p || q]. q is the Student-t assignment to the centres; p is its target, updated once per epoch over the
    whole corpus without masks. Both terms come from one pass over the masked texts: the paper draws them this way
    (figure 1) and mentions p without masks as an exception.

    Attributes
    ----------
    encoder_ : TransformerEncoder
        The encoder after training; the masked-language-model head is discarded.

    References
    ----------
    Huang et al. (2020), *Unsupervised Fine-tuning for Text Clustering*, COLING.

    Examples
    --------
    >>> from shoal.methods.mlm_dec import MLMDEC
    >>> texts = ["red apple", "green apple", "ripe apple", "fast car", "slow car", "new car"]
    >>> model = MLMDEC(n_clusters=2, max_steps=1, trainable_layers=1).fit(texts)
    >>> bool((model.predict(texts) == model.labels_).all())
    True
    """

    summary = "fine-tuning: a masked language model joined with a Student-t clustering loss"
    source = "MLM + DEC (Huang et al. 2020)"
    presets = PRESETS

    backbone: str = shared.TRAINED_BACKBONE.but(
        meaning="The transformer to train: 'builtin', a folder, or a hub name; 'auto' is 'builtin' for English texts, "
        "and for others an error. If it has a masked-language-model head, that "
        "head is used; otherwise a new one is made."
    )
    pooling: str = shared.POOLING.but(
        meaning="How token states become one vector: their mean, masked tokens included, or the state of the first "
        "token (the ablation of table 2)."
    )
    max_length: int = shared.MAX_LENGTH.but(
        64, "Maximum number of tokens read per text; 128 in the paper, which takes twice the time for long texts."
    )
    alpha: float = shared.ALPHA.but(meaning="Degrees of freedom in equation 3.")
    masked_lm: float = parameter(
        1 / 16,
        "Weight of L_m relative to the mean of KL[p || q]. Equation 2 is a sum over the texts: with the "
        "paper's 16 texts per step, L_m + L_c amounts to 1/16, up to a factor that does not affect Adam. 0 omits "
        "L_m (the ablation of table 2); tokens are still masked, since the paper removes only the loss, unless "
        "mask_share is 0 too.",
        number(least=0),
    )
    mask_share: float = parameter(0.1, "Share of the tokens of a text to mask, at least one token.", share_of("tokens"))
    warm_up_epochs: int = parameter(
        1,
        "Passes over the corpus that train only a new head, before the encoder is trained; none for a head "
        "that came with the backbone.",
        whole(0),
    )
    n_init: int = shared.N_INIT.but(meaning="Number of starts of the first k-means.")
    batch_size: int = TRAINING["batch_size"].but(64, "Texts per batch; 16 in the paper.")
    epochs: int = TRAINING["epochs"].but(2, "Passes over the corpus; at most 10 in the paper.")
    learning_rate: float = TRAINING["learning_rate"].but(
        2e-5,
        "Learning rate of the encoder; 3e-5 in the paper. The built-in encoder's vectors form clusters "
        "already: on TREC-6, more and larger steps made them worse (docs/methods/mlm-dec.md).",
    )
    head_learning_rate: float = TRAINING["head_learning_rate"].but(
        meaning="Learning rate of the centres and the head; 3e-5 in the paper, whose head is pre-trained."
    )

    def _stages(self, material: Material) -> list[Stage]:
        tokens = material.views.tokens
        masking = Masking.of(self.encoder_.tokenizer, self.mask_share) if self.mask_share else None
        head = load_masked_head(self.reading_.backbone) if self.masked_lm else None
        stages = []
        if self.masked_lm and masking is not None and head is None:
            maskable = tokens.ids[~np.isin(tokens.ids, masking.special_ids)]
            head = new_masked_head(self.encoder_.dimension, self.encoder_.words, maskable)
            if self.warm_up_epochs:  # the encoder is not trained, so there is nothing to watch
                warm_up = HeadWarmUp(material.encoder, masking, head)
                stages.append(Stage(WARM_UP, warm_up, epochs=self.warm_up_epochs, watched=False))
        joint = MLMDECObjective(
            material.encoder,
            masking,
            head,
            masked_lm=self.masked_lm,
            n_texts=len(tokens),
            n_clusters=self.n_clusters_,
            dimension=self.encoder_.dimension,
            alpha=self.alpha,
            scale=self.scale,
            n_init=self.n_init,
        )
        return [*stages, Stage(JOINT, joint, refresh_every="epoch")]

    def _check(self) -> None:
        if self.masked_lm and not self.mask_share:
            raise ParameterError("mask_share=0 leaves nothing to predict; pass mask_share > 0, or masked_lm=0.")
