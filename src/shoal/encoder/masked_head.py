"""The head of a masked language model: from the state at a mask to a score for each token."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from shoal.encoder.backbone import silence, source_of

# The names of each family's transform, layer norm, and decoder, which is tied to the word embeddings.
_LM_HEAD = ("lm_head.dense", "lm_head.layer_norm", "lm_head.decoder")
_PREDICTIONS = "cls.predictions"
_PARTS = {
    "bert": (f"{_PREDICTIONS}.transform.dense", f"{_PREDICTIONS}.transform.LayerNorm", f"{_PREDICTIONS}.decoder"),
    "distilbert": ("vocab_transform", "vocab_layer_norm", "vocab_projector"),
    **dict.fromkeys(("roberta", "xlm-roberta", "camembert", "mpnet"), _LM_HEAD),
}
# A new transform is the identity times this: its first scores are small compared with the log frequencies.
NEW_HEAD_SCALE = 0.1
# Added to every count: a token that the corpus does not have must not be impossible.
UNSEEN = 0.1


class MaskedHead(nn.Module):
    """Scores each token of the vocabulary at the masks, with the word embeddings as output matrix.

    The embeddings belong to the encoder and are passed in, so that they are not stored twice.

    Parameters
    ----------
    transform : nn.Module
        From states (n, d) to the space of the word embeddings (n, e).
    bias : Tensor of shape (v,)
        The score of each token whatever the state.
    """

    def __init__(self, transform: Any, bias: Tensor) -> None:
        super().__init__()
        self.transform = transform
        self.bias = nn.Parameter(bias.detach().clone())

    def forward(self, states: Tensor, words: Tensor) -> Tensor:
        """Return the scores, (n, v), of states at masks (n, d) and word embeddings (v, e)."""
        scores: Tensor = nn.functional.linear(self.transform(states), words, self.bias)
        return scores


def load_masked_head(backbone: str) -> MaskedHead | None:
    """Load a backbone's own head.

    Parameters
    ----------
    backbone : str
        As in :func:`~shoal.encoder.backbone.load_backbone`.

    Returns
    -------
    MaskedHead or None
        None if the checkpoint has no head of a known form: BERT's, DistilBERT's, RoBERTa's or MPNet's, with its
        decoder tied to the word embeddings.
    """
    from transformers import AutoConfig, AutoModelForMaskedLM

    source = source_of(backbone)
    with silence():
        config = AutoConfig.from_pretrained(source, trust_remote_code=False)
        kind, activation = config.model_type, getattr(config, "hidden_act", getattr(config, "activation", None))
        if kind not in _PARTS or activation != "gelu":
            return None
        model, found = AutoModelForMaskedLM.from_pretrained(source, trust_remote_code=False, output_loading_info=True)
    dense, norm, decoder = (model.get_submodule(name) for name in _PARTS[kind])
    there = not any(key.startswith(name) for key in found["missing_keys"] for name in _PARTS[kind])
    if not there or decoder.weight is not model.get_input_embeddings().weight:
        return None
    return MaskedHead(nn.Sequential(dense, nn.GELU(), norm).float(), decoder.bias.float())


def new_masked_head(dimension: int, words: Tensor, ids: NDArray[np.int32]) -> MaskedHead:
    """Make a head for a backbone that has none.

    Its bias starts at the tokens' log frequencies in the corpus, which it would learn slowly, and its transform at a
    small multiple of the identity, which compares the states with the word embeddings.

    Parameters
    ----------
    dimension : int
        Width of the states.
    words : Tensor of shape (v, e)
        The word embeddings.
    ids : ndarray of int
        The tokens of the corpus that may be masked.

    Examples
    --------
    >>> words = torch.zeros(3, 2)
    >>> head = new_masked_head(2, words, np.array([0, 0, 1]))
    >>> head(torch.zeros(1, 2), words).softmax(dim=1).detach()  # counts 2, 1, 0, a tenth added
    tensor([[0.6364, 0.3333, 0.0303]])
    """
    vocabulary, width = words.shape
    transform = nn.Linear(dimension, width)
    with torch.no_grad():
        transform.weight.copy_(NEW_HEAD_SCALE * torch.eye(width, dimension))
        transform.bias.zero_()
    counts = torch.from_numpy(np.bincount(ids, minlength=vocabulary) + UNSEEN)
    return MaskedHead(transform, (counts / counts.sum()).log().float())
