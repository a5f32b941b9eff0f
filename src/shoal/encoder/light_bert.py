"""A saved BERT in NumPy, for a few short texts: to import torch and transformers takes longer than to encode them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import erf

from shoal.confined import read_json

Weights = dict[str, NDArray[np.float32]]


class LightBert:
    """A transformer of the BERT family, in evaluation mode.

    Parameters
    ----------
    folder : Path
        The folder with ``config.json``, ``model.safetensors`` and ``tokenizer.json``.

    Raises
    ------
    LookupError, TypeError, ValueError, OSError
        If the folder holds anything but a plain BERT in float32; :class:`TransformerEncoder` may still read it.
    """

    def __init__(self, folder: Path) -> None:
        from safetensors.numpy import load_file
        from tokenizers import Tokenizer

        config = read_json(folder / "config.json")
        kind = (config["model_type"], config["hidden_act"], config.get("position_embedding_type", "absolute"))
        if kind != ("bert", "gelu", "absolute") or not (folder / "tokenizer.json").is_file():
            raise ValueError(f"{kind} is no plain BERT")
        self._weights: Weights = load_file(folder / "model.safetensors")
        if any(array.dtype != np.float32 for array in self._weights.values()):
            raise ValueError("the weights are not in float32")
        self._n_layers, self._n_heads = int(config["num_hidden_layers"]), int(config["num_attention_heads"])
        self._epsilon = float(config["layer_norm_eps"])
        self._tokenizer: Any = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()

    def encode(self, texts: Sequence[str], max_length: int, pooling: str) -> NDArray[np.float32] | None:
        """Return one vector per text, not normalised; None if a text has more than ``max_length`` tokens."""
        tokens = [encoding.ids for encoding in self._tokenizer.encode_batch(list(texts))]
        if any(not 0 < len(ids) <= max_length for ids in tokens):
            return None
        states = [self._states(np.array(ids)) for ids in tokens]
        return np.stack([state[0] if pooling == "cls" else state.mean(axis=0) for state in states])

    def _states(self, ids: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the states of a text's tokens after the last layer, (t, d)."""
        w = self._weights
        embedded = w["embeddings.word_embeddings.weight"][ids] + w["embeddings.token_type_embeddings.weight"][0]
        embedded = embedded + w["embeddings.position_embeddings.weight"][: len(ids)]
        states = self._norm(embedded, "embeddings.LayerNorm")
        for number in range(self._n_layers):
            layer = f"encoder.layer.{number}"
            attended = self._linear(
                self._attention(states, f"{layer}.attention.self"), f"{layer}.attention.output.dense"
            )
            states = self._norm(attended + states, f"{layer}.attention.output.LayerNorm")
            inner = self._linear(states, f"{layer}.intermediate.dense")
            inner = inner * (0.5 * (1 + erf(inner / np.float32(np.sqrt(2)))))  # GELU
            states = self._norm(self._linear(inner, f"{layer}.output.dense") + states, f"{layer}.output.LayerNorm")
        return states

    def _attention(self, states: NDArray[np.float32], name: str) -> NDArray[np.float32]:
        """Return softmax(Q Kᵀ / √d) V of each head, side by side."""
        query, key, value = (
            self._linear(states, f"{name}.{part}").reshape(len(states), self._n_heads, -1).swapaxes(0, 1)
            for part in ("query", "key", "value")
        )
        scores = query @ key.swapaxes(1, 2) / np.float32(np.sqrt(query.shape[2]))
        weights = np.exp(scores - scores.max(axis=2, keepdims=True))
        weights /= weights.sum(axis=2, keepdims=True)
        joined: NDArray[np.float32] = (weights @ value).swapaxes(0, 1).reshape(len(states), -1)
        return joined

    def _linear(self, rows: NDArray[np.float32], name: str) -> NDArray[np.float32]:
        result: NDArray[np.float32] = rows @ self._weights[f"{name}.weight"].T + self._weights[f"{name}.bias"]
        return result

    def _norm(self, rows: NDArray[np.float32], name: str) -> NDArray[np.float32]:
        centred = rows - rows.mean(axis=1, keepdims=True)
        scale = np.sqrt((centred**2).mean(axis=1, keepdims=True) + np.float32(self._epsilon))
        result: NDArray[np.float32] = centred / scale * self._weights[f"{name}.weight"] + self._weights[f"{name}.bias"]
        return result
