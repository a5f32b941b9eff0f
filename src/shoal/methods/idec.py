"""IDEC: improved deep embedded clustering with local structure preservation (Guo et al., IJCAI 2017)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn
from torch.nn.functional import mse_loss

from shoal.encoder.auto_encoder import AutoEncoder
from shoal.methods.auto_encoded import PAPER
from shoal.methods.checks import check_positive
from shoal.methods.dec import DEC, DECObjective
from shoal.training import VectorBatch

PRESETS: dict[str, dict[str, Any]] = {
    "paper": {**PAPER, "n_init": 20},
    # Appendix 1.2.2 of ClusterBERT: 150 epochs, all of them.
    "clusterbert": {"epochs": 150, "learning_rate": 1e-4, "tolerance": None},
}


class IDECObjective(DECObjective):
    """L_r + γ L_c: reconstruction plus γ times DEC's divergence.

    Parameters
    ----------
    encoder, decoder : nn.Module
        The two halves of the auto-encoder.
    gamma : float
        γ.
    **head
        As in :class:`~shoal.methods.dec.DECObjective`.
    """

    def __init__(self, encoder: nn.Module, decoder: nn.Module, *, gamma: float, **head: Any) -> None:
        super().__init__(encoder, **head)
        self.decoder = decoder
        self.gamma = gamma

    def forward(self, batch: VectorBatch) -> dict[str, Tensor]:
        """Return the two terms."""
        (z,) = self.encode(batch)
        return {
            "reconstruction": mse_loss(self.decoder(z), batch.vectors),  # L_r, as a mean over the values
            "cluster": self.gamma * self.divergence(z, batch.rows),  # L_c
        }


@dataclass(eq=False, repr=False, kw_only=True)
class IDEC(DEC):
    """DEC that keeps its decoder.

    Minimises L_r + γ KL(P || Q): the reconstruction of the undamaged vectors keeps the code from forgetting what the
    clusters do not need. The error is the mean over a vector's values, as in the usual code; the paper writes a sum.

    Parameters
    ----------
    epochs : int, default=50
        The most passes over the corpus, after the pre-training.
    gamma : float, default=0.1
        γ, the weight of the clustering; the paper's.
    alpha : float, default=1
        Degrees of freedom of the Student-t kernel; the paper's.
    update_interval : int, optional
        T: steps between two targets, and between two counts of the labels that moved; by default once an epoch.
    tolerance : float or None, default=0.001
        δ: stop when less than this share of the labels moved between two targets; the paper's.

    Further parameters: see :class:`~shoal.methods.auto_encoded.AutoEncoderClusterer`.

    Attributes
    ----------
    encoder_ : VectorEncoder
        The encoding half after training.
    outcome_ : dict
        Label-free signs before and after, and whether and why the training was rolled back.

    References
    ----------
    Guo, Gao, Liu and Yin (2017), *Improved Deep Embedded Clustering with Local Structure Preservation*, IJCAI.

    Examples
    --------
    >>> from shoal.methods.idec import IDEC
    >>> texts = ["red apple", "green apple", "ripe apple", "fast car", "slow car", "new car"]
    >>> model = IDEC(n_clusters=2, representation="tfidf", pretrain_epochs=20, epochs=5).fit(texts)
    >>> bool((model.predict(texts) == model.labels_).all())
    True
    """

    gamma: float = 0.1

    def _objective(self, auto_encoder: AutoEncoder, n_texts: int) -> DECObjective:
        head = self._head(auto_encoder, n_texts)
        return IDECObjective(auto_encoder.encoder, auto_encoder.decoder, gamma=self.gamma, **head)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_positive(self.get_params(deep=False), {"gamma": 0.1})
