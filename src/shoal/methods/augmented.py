"""What the methods that train on augmented views of the texts share."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

from shoal.augment import AUGMENTERS, AugmentCache, Augmenter, augmented_pair, make_augmenter
from shoal.corpus import Corpus
from shoal.errors import DataError
from shoal.methods.trained import TrainedClusterer
from shoal.training import Callback, CorpusViews

ORIGINAL, LEFT, RIGHT = 0, 1, 2


class AugmentedClusterer(TrainedClusterer):
    """Base of the methods that train on the texts and two augmented views of each."""

    augmentation: str
    augmentation_strength: float
    augmentation_options: dict[str, dict[str, Any]] | None
    _pairs: tuple[list[str], list[str]] | None

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        pairs: Any = None,
        vectors: Any = None,
        checkpoints: Path | None = None,
        callbacks: Sequence[Callback] = (),
    ) -> Self:
        """Learn the clusters.

        Parameters
        ----------
        X : list of str, Series, DataFrame, Corpus, …
            The texts.
        y : ignored
            Labels are never used.
        pairs : (list of str, list of str), optional
            Two augmented views of every row of ``X``, made elsewhere; ``augmentation`` is then not used.
        vectors : None
            Vectors cannot be trained on; they are refused.
        checkpoints : Path, optional
            Where the training's states are kept; if there are any, it goes on from the latest.
        callbacks : sequence of Callback
            Who listens to the training; no part of the result.

        Returns
        -------
        self
        """
        self._pairs = None if pairs is None else _present_pairs(Corpus.of(X), pairs)
        return super().fit(X, y, vectors=vectors, checkpoints=checkpoints, callbacks=callbacks)

    def _views(self, texts: list[str], seed: int) -> CorpusViews:
        tokens = self.encoder_.tokenise(texts)
        if self._pairs is not None:
            return CorpusViews.joined([tokens, *map(self.encoder_.tokenise, self._pairs)])
        augmenter = self._augmenter(texts)
        if not augmenter.changes_text:
            return CorpusViews.repeated(tokens, 3)
        started = time.perf_counter()
        pairs = augmented_pair(texts, augmenter, seed, AugmentCache())
        left, right = pairs.left_report, pairs.right_report
        self._log("augment", started, unchanged_left=left.unchanged, unchanged_right=right.unchanged)
        return CorpusViews.joined([tokens, self.encoder_.tokenise(pairs.left), self.encoder_.tokenise(pairs.right)])

    def _identity(self, texts: Sequence[str], seed: int) -> str:
        left, right = self._pairs or ([], [])
        return super()._identity([*texts, *left, *right], seed)

    def _augmenter(self, texts: list[str]) -> Augmenter:
        """Build the augmenter, with what its kind needs of the corpus."""
        options: dict[str, dict[str, Any]] = {
            name: {"strength": self.augmentation_strength}
            for name, kind in AUGMENTERS.items()
            if kind.spec_parameter == "strength"
        }
        options["neighbour"] |= {"texts": texts, "encode": self.encoder_.encode}
        for name, further in (self.augmentation_options or {}).items():
            options[name] = options.get(name, {}) | further
        return make_augmenter(self.augmentation, options)


def _present_pairs(corpus: Corpus, pairs: Any) -> tuple[list[str], list[str]]:
    """Check the pairs against the corpus and leave out those of empty rows; an empty view is the text itself."""
    left, right = pairs
    if not len(left) == len(right) == len(corpus):
        raise DataError(
            f"pairs has {len(left)} and {len(right)} texts but there are {len(corpus)} rows; pass two views of each."
        )
    kept = [i for i, text in enumerate(corpus.texts) if text]
    first, second = ([str(view[i] or corpus.texts[i]) for i in kept] for view in (list(left), list(right)))
    return first, second
