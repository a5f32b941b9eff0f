"""Words replaced by similar words of the corpus: no masked language model needed."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from shoal.augment.base import WordAugmenter
from shoal.augment.words import match_case, n_changes, splice
from shoal.errors import ParameterError
from shoal.text.word_space import WordSpace
from shoal.text.words import Word, split_words
from shoal.vectors import unit_rows

Encode = Callable[[list[str]], NDArray[np.floating]]

JUDGES = ("word", "sentence")

_PROBE = ["The weather is fine today.", "How do I sort a list?"]
_N_CLOSEST = 3  # the encoder's best few are equally good, and drawing among them makes the views differ


@dataclass(frozen=True)
class _Slot:
    """A word to be replaced, its candidates, and their cosines in the word space."""

    row: int
    word: Word
    candidates: list[str]
    cosines: list[float]


class NeighbourSubstitution(WordAugmenter):
    """Replace a share of the words by similar words of the corpus itself.

    An offline alternative to contextual substitution: the word space proposes candidates, the sentence encoder
    chooses those closest in meaning. Without an encoder, candidates are drawn in proportion to their cosine in the
    word space.

    Parameters
    ----------
    texts : sequence of str
        The corpus that the word space is learnt from.
    strength : float
        Share of the words to replace.
    encode : callable, optional
        From a list of n strings to an array of shape (n, d).
    n_candidates : int
        Nearest words considered for each word, other than words of the text itself.
    judge : {"word", "sentence"}
        What the encoder compares: the word with the candidate, which encodes each word of the corpus once; or the
        sentence before and after, which encodes a sentence per candidate, at about a hundred times the cost.

    Examples
    --------
    >>> corpus = ["fast red car", "fast red auto", "hot green tea"] * 5
    >>> NeighbourSubstitution(corpus, strength=0.3, n_candidates=1).augment(["My Car!"], seed=0)
    ['My Auto!']
    """

    name = "neighbour"

    def __init__(
        self,
        texts: Sequence[str],
        strength: float = 0.2,
        encode: Encode | None = None,
        n_candidates: int = 10,
        judge: str = "word",
    ) -> None:
        super().__init__(strength)
        if judge not in JUDGES:
            raise ParameterError(f"judge={judge!r} is unknown; pass one of {', '.join(JUDGES)}.")
        self.texts = texts
        self.encode = encode
        self.n_candidates = n_candidates
        self.judge = judge
        self._neighbours: dict[str, list[tuple[str, float]]] = {}
        self._word_vectors: dict[str, NDArray[np.float64]] = {}

    @cached_property
    def _space(self) -> WordSpace:
        """The word space, learnt on first use."""
        return WordSpace.fit(self.texts)

    def _identity(self) -> Mapping[str, object]:
        corpus = hashlib.sha256()
        for text in self.texts:
            corpus.update(text.encode("utf-8", "surrogatepass") + b"\0")
        # An encoder is identified by its vectors for two texts: it may have been trained since.
        answer = np.empty(0) if self.encode is None else np.asarray(self.encode(_PROBE), dtype=np.float64)
        return {
            **super()._identity(),
            "corpus": corpus.hexdigest(),
            "encoder": hashlib.sha256((np.round(answer, 3) + 0.0).tobytes()).hexdigest(),
            "n_candidates": self.n_candidates,
            "judge": self.judge,
        }

    def _rewrite(self, texts: list[str], seed: int, view: int) -> list[str]:
        rngs = [self._rng(seed, view, text) for text in texts]
        slots = [slot for row, text in enumerate(texts) for slot in self._slots(row, text, rngs[row])]
        weights = [np.array(slot.cosines) for slot in slots] if self.encode is None else self._by_meaning(texts, slots)
        replacements: list[dict[Word, str]] = [{} for _ in texts]
        for slot, weight in zip(slots, weights, strict=True):
            chosen = rngs[slot.row].choice(len(slot.candidates), p=weight / weight.sum())
            replacements[slot.row][slot.word] = slot.candidates[chosen]
        return [splice(text, replaced) for text, replaced in zip(texts, replacements, strict=True)]

    def _slots(self, row: int, text: str, rng: np.random.Generator) -> list[_Slot]:
        """Choose the words to replace among those that have neighbours."""
        words = split_words(text)
        present = {word.text.lower() for word in words}
        slots: list[_Slot] = []
        for position in rng.permutation(len(words)):
            if len(slots) == n_changes(len(words), self.strength):
                break
            word = words[position]
            near = [(near, cosine) for near, cosine in self._near(word.text.lower()) if near not in present]
            near = near[: self.n_candidates]
            if near:
                candidates = [match_case(candidate, word.text) for candidate, _ in near]
                slots.append(_Slot(row, word, candidates, [cosine for _, cosine in near]))
        return slots

    def _near(self, word: str) -> list[tuple[str, float]]:
        """Return the neighbours of a word, looked up once per word."""
        if word not in self._neighbours:
            self._neighbours[word] = self._space.neighbours(word, 2 * self.n_candidates)
        return self._neighbours[word]

    def _by_meaning(self, texts: list[str], slots: list[_Slot]) -> list[NDArray[np.float64]]:
        """Give equal weight to the few candidates that are closest by the encoder."""
        weights = []
        for closeness in self._closeness(texts, slots):
            weight = np.zeros(len(closeness))
            weight[np.argsort(-closeness, kind="stable")[:_N_CLOSEST]] = 1.0
            weights.append(weight)
        return weights

    def _closeness(self, texts: list[str], slots: list[_Slot]) -> list[NDArray[np.float64]]:
        """Return the cosine of before and after, per slot and candidate."""
        if self.judge == "word":
            pairs = [(slot.word.text.lower(), [word.lower() for word in slot.candidates]) for slot in slots]
            self._word_vectors = self._encoded(pairs, self._word_vectors)
            vectors = self._word_vectors
        else:
            pairs = [
                (texts[slot.row], [splice(texts[slot.row], {slot.word: word}) for word in slot.candidates])
                for slot in slots
            ]
            vectors = self._encoded(pairs, {})
        return [np.array([vectors[word] @ vectors[before] for word in after]) for before, after in pairs]

    def _encoded(
        self, pairs: list[tuple[str, list[str]]], known: dict[str, NDArray[np.float64]]
    ) -> dict[str, NDArray[np.float64]]:
        """Return vectors of length one of all texts in ``pairs``, encoding only those that are not ``known``."""
        needed = dict.fromkeys(text for before, after in pairs for text in (before, *after))
        unknown = [text for text in needed if text not in known]
        if not unknown or self.encode is None:
            return known
        vectors = unit_rows(np.asarray(self.encode(unknown), dtype=np.float64))
        return {**known, **dict(zip(unknown, vectors, strict=True))}
