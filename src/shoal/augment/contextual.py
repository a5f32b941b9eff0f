"""Words replaced by the guesses of a masked language model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from transformers import AutoModelForMaskedLM

from shoal.augment.base import WordAugmenter
from shoal.augment.pretrained import load_pretrained, pretrained_identity
from shoal.augment.words import match_case, n_changes, splice
from shoal.errors import ParameterError
from shoal.text.words import Word, split_words

_WORD_START_MARKERS = ("Ġ", "▁")  # of byte-level BPE and of sentencepiece


@dataclass(frozen=True)
class _Guess:
    """The model's guesses for one masked word, and their probabilities."""

    words: list[str]
    probabilities: NDArray[np.float64]


class MaskedLMSubstitution(WordAugmenter):
    """Replace a share of the words by draws from a masked language model (Kobayashi, 2018; Ma, 2019).

    Each chosen word is masked on its own, so that the model sees all others. The original word, word pieces,
    punctuation and numbers are never drawn. This is the contextual augmenter of SCCL, section 4.3.1.

    Parameters
    ----------
    models : str, Path or sequence of them
        Hub names or folders; view v is made by model v, so that two views may come from two models, as in the paper.
    strength : float
        Share of the words to replace.
    top_n : int
        Draw from this many most likely words, by probability.
    batch_size : int
        Masked texts per forward pass.
    """

    name = "contextual"

    def __init__(
        self,
        models: str | Path | Sequence[str | Path] = ("bert-base-uncased", "roberta-base"),
        strength: float = 0.2,
        top_n: int = 100,
        batch_size: int = 32,
    ) -> None:
        super().__init__(strength)
        if top_n < 1:
            raise ParameterError(f"{self.name}: top_n={top_n} but at least one word is needed; pass top_n >= 1.")
        self.models = (models,) if isinstance(models, str | Path) else tuple(models)
        self.top_n = top_n
        self.batch_size = batch_size
        self._loaded: dict[str | Path, _MaskedLM] = {}

    def _identity(self) -> Mapping[str, object]:
        models = [pretrained_identity(model) for model in self.models]
        return {**super()._identity(), "models": models, "top_n": self.top_n}

    def _rewrite(self, texts: list[str], seed: int, view: int) -> list[str]:
        rngs = [self._rng(seed, view, text) for text in texts]
        chosen = [(row, word) for row, text in enumerate(texts) for word in self._choose(text, rngs[row])]
        model = self._model(view)
        masked = [splice(texts[row], {word: model.mask_token}) for row, word in chosen]
        guesses = model.fill(masked, [word.text for _, word in chosen], self.top_n, self.batch_size)
        replacements: list[dict[Word, str]] = [{} for _ in texts]
        for (row, word), guess in zip(chosen, guesses, strict=True):
            if guess.words:
                drawn = guess.words[rngs[row].choice(len(guess.words), p=guess.probabilities)]
                replacements[row][word] = match_case(drawn, word.text)
        return [splice(text, replaced) for text, replaced in zip(texts, replacements, strict=True)]

    def _choose(self, text: str, rng: np.random.Generator) -> list[Word]:
        """Choose the words to mask among those with a letter."""
        words = split_words(text)
        shuffled = [words[position] for position in rng.permutation(len(words))]
        with_letter = [word for word in shuffled if any(map(str.isalpha, word.text))]
        return with_letter[: n_changes(len(words), self.strength)]

    def _model(self, view: int) -> _MaskedLM:
        """Return the model of a view, loaded on first use."""
        name = self.models[view % len(self.models)]
        if name not in self._loaded:
            self._loaded[name] = _MaskedLM(*load_pretrained(AutoModelForMaskedLM, name))
        return self._loaded[name]


class _MaskedLM:
    """A masked language model that guesses whole words."""

    def __init__(self, model: Any, tokenizer: Any) -> None:
        self.model = model
        self.tokenizer = tokenizer
        self.mask_token: str = tokenizer.mask_token
        # RoBERTa counts positions from 2
        self.max_length = min(tokenizer.model_max_length, model.config.max_position_embeddings - 2)

    def fill(self, masked: list[str], originals: list[str], top_n: int, batch_size: int) -> list[_Guess]:
        """Guess the masked word of each text; no guess where truncation cut off the mask."""
        guesses: dict[int, _Guess] = {}
        order = sorted(range(len(masked)), key=lambda row: -len(masked[row]))
        for start in range(0, len(order), batch_size):
            rows = order[start : start + batch_size]
            scores, ids = self._best([masked[row] for row in rows], top_n + 1)
            for row, row_scores, row_ids in zip(rows, scores, ids, strict=True):
                guesses[row] = self._guess(row_scores, row_ids, originals[row], top_n)
        return [guesses[row] for row in range(len(masked))]

    @torch.inference_mode()
    def _best(self, masked: list[str], n: int) -> tuple[Tensor, Tensor]:
        """Return scores and ids of the best whole words at the first mask of each text; -inf without a mask."""
        batch = self.tokenizer(
            masked, padding=True, truncation=True, max_length=self.max_length, return_tensors="pt"
        ).to(self.model.device)
        is_mask = batch["input_ids"] == self.tokenizer.mask_token_id
        states = self.model(**batch).logits
        at_mask = states[torch.arange(len(masked)), is_mask.int().argmax(dim=1)].float().cpu()
        usable = self._is_word & is_mask.any(dim=1, keepdim=True).cpu()
        best = at_mask[:, : len(self._words)].masked_fill(~usable, -torch.inf).topk(min(n, len(self._words)))
        return best.values, best.indices

    def _guess(self, scores: Tensor, ids: Tensor, original: str, top_n: int) -> _Guess:
        """Turn scores into words and probabilities, without the original word."""
        kept = [
            (self._words[token], score)
            for token, score in zip(ids.tolist(), scores.tolist(), strict=True)
            if score > -np.inf and self._words[token].lower() != original.lower()
        ][:top_n]
        if not kept:
            return _Guess([], np.empty(0))
        likelihood = np.exp(np.array([score for _, score in kept]) - kept[0][1])
        return _Guess([word for word, _ in kept], likelihood / likelihood.sum())

    @cached_property
    def _words(self) -> list[str]:
        """Each token of the vocabulary as a word, or "" if it is not a whole word."""
        pieces = self.tokenizer.convert_ids_to_tokens(range(self.model.config.vocab_size))
        pieces = [piece or "" for piece in pieces]
        marked = any(piece.startswith(_WORD_START_MARKERS) for piece in pieces)
        # Unmarked pieces begin a word in WordPiece and continue one elsewhere; "##" is not alphabetic.
        words = [piece[1:] if piece.startswith(_WORD_START_MARKERS) else piece * (not marked) for piece in pieces]
        special = set(self.tokenizer.all_special_ids)
        return [word if word.isalpha() and token not in special else "" for token, word in enumerate(words)]

    @cached_property
    def _is_word(self) -> Tensor:
        """Which tokens are whole words, of shape (1, vocabulary)."""
        return torch.tensor([[word != "" for word in self._words]])
