"""What all augmenters have in common.

The augmentation of a text depends on the seed, the view and the text alone, not on the other texts or their order: each
text has its own random generator, seeded by a hash of the three.
"""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np

from shoal.augment.words import n_changes, splice
from shoal.errors import ParameterError
from shoal.progress import progress
from shoal.text.words import Word, split_words


class Augmenter(ABC):
    """Rewrites texts without changing their meaning.

    Attributes
    ----------
    name : str
        The name in spec strings.
    changes_text : bool
        False if the texts stay as they are and the views differ by dropout alone.
    spec_parameter : str or None
        The parameter that a spec string such as ``"wordnet:0.1"`` sets after the colon.
    """

    name: str
    changes_text: bool = True
    spec_parameter: ClassVar[str | None] = None
    _batch_size: ClassVar[int] = 256

    @property
    def fingerprint(self) -> str:
        """Everything but seed, view and text that decides the result; part of the cache key."""
        return json.dumps([self.name, self._identity()], sort_keys=True)

    def augment(self, texts: Sequence[str], seed: int, view: int = 0) -> list[str]:
        """Augment texts; one that cannot be changed is returned as it is.

        Parameters
        ----------
        texts : sequence of str
        seed : int
        view : int
            0 for the left view, 1 for the right one.

        Returns
        -------
        list of str
            In the order of `texts`.

        Examples
        --------
        >>> from shoal.augment import WordDeletion
        >>> WordDeletion(strength=0.3).augment(["one two three four", ""], seed=0)
        ['one three four', '']
        """
        distinct = [text for text in dict.fromkeys(texts) if text.strip()]
        rewritten: dict[str, str] = {}
        with progress(f"Augmenting ({self.name}, view {view + 1})", len(distinct)) as bar:
            for start in range(0, len(distinct), self._batch_size):
                batch = distinct[start : start + self._batch_size]
                rewritten.update(zip(batch, self._rewrite(batch, seed, view), strict=True))
                bar.advance(len(batch))
        return [rewritten.get(text, text) for text in texts]

    @abstractmethod
    def _rewrite(self, texts: list[str], seed: int, view: int) -> list[str]:
        """Rewrite one batch of distinct texts, none of them blank."""

    def _identity(self) -> Mapping[str, object]:
        """Return parameters and resources as JSON values."""
        return {}

    def _rng(self, seed: int, view: int, text: str) -> np.random.Generator:
        """Return the random generator of a text."""
        key = f"{self.name}\0{seed}\0{view}\0{text}".encode("utf-8", "surrogatepass")
        return np.random.default_rng(int.from_bytes(hashlib.sha256(key).digest(), "big"))


class WordAugmenter(Augmenter):
    """Changes a share of the words of each text.

    Parameters
    ----------
    strength : float
        Share of the words to change; SCCL tries 0.1, 0.2 and 0.3. At least one word, if any can change.
    """

    spec_parameter = "strength"

    def __init__(self, strength: float = 0.2) -> None:
        if not 0 < strength <= 1:
            raise ParameterError(
                f"{self.name}: strength={strength} but a share of words is above 0 and at most 1; pass 0.1, 0.2 or 0.3."
            )
        self.strength = strength

    def _identity(self) -> Mapping[str, object]:
        return {"strength": self.strength}

    def _rewrite(self, texts: list[str], seed: int, view: int) -> list[str]:
        return [self._rewrite_text(text, self._rng(seed, view, text)) for text in texts]

    def _rewrite_text(self, text: str, rng: np.random.Generator) -> str:
        """Replace words in random order until enough have changed."""
        words = split_words(text)
        replacements: dict[Word, str] = {}
        for position in rng.permutation(len(words)):
            if len(replacements) == n_changes(len(words), self.strength):
                break
            replacement = self._replace(words[position].text, rng)
            if replacement is not None:
                replacements[words[position]] = replacement
        return splice(text, replacements)

    def _replace(self, word: str, rng: np.random.Generator) -> str | None:
        """Return a replacement, or None if the word has to stay."""
        raise NotImplementedError
