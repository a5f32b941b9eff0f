"""Words replaced by WordNet synonyms."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cached_property, lru_cache
from pathlib import Path

import numpy as np
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from shoal.augment.base import WordAugmenter
from shoal.augment.wordnet_files import WordNetFiles, find_wordnet
from shoal.augment.words import match_case


class WordNetSubstitution(WordAugmenter):
    """Replace a share of the words by WordNet synonyms (SCCL, section 4.3.1, "WordNet augmenter").

    Only base forms are replaced, so that the grammar stays right; capitals are kept. Function words stay, because
    WordNet knows "in" as a measure of length and "a" as a vitamin.

    Parameters
    ----------
    strength : float
        Share of the words to replace.
    wordnet_dir : str or Path, optional
        Folder with WordNet's files; by default NLTK's data folders and the system's are searched.
    """

    name = "wordnet"

    def __init__(self, strength: float = 0.2, wordnet_dir: str | Path | None = None) -> None:
        super().__init__(strength)
        self.wordnet_dir = wordnet_dir
        self._synonyms = lru_cache(maxsize=None)(lambda word: self._files.synonyms(word))

    @cached_property
    def _files(self) -> WordNetFiles:
        """The database, read on first use."""
        return WordNetFiles(find_wordnet(self.wordnet_dir))

    def _identity(self) -> Mapping[str, object]:
        nouns = (find_wordnet(self.wordnet_dir) / "data.noun").read_bytes()
        return {**super()._identity(), "data.noun": hashlib.sha256(nouns).hexdigest()}

    def _replace(self, word: str, rng: np.random.Generator) -> str | None:
        if word.lower() in ENGLISH_STOP_WORDS:
            return None
        synonyms = self._synonyms(word.lower())
        return match_case(synonyms[int(rng.integers(len(synonyms)))], word) if synonyms else None
