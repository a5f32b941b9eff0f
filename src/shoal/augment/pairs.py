"""Two augmented views of every text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from shoal.augment.base import Augmenter
from shoal.augment.cache import AugmentCache


@dataclass(frozen=True)
class AugmentReport:
    """How many texts an augmenter left unchanged.

    Parameters
    ----------
    n : int
        Number of texts.
    unchanged : int
        Number of texts that were returned as they are.
    """

    n: int
    unchanged: int

    @classmethod
    def compare(cls, texts: Sequence[str], augmented: Sequence[str]) -> AugmentReport:
        """Count the unchanged texts.

        Parameters
        ----------
        texts, augmented : sequence of str
            Before and after.

        Returns
        -------
        AugmentReport

        Examples
        --------
        >>> AugmentReport.compare(["one", "two"], ["one", "twoo"])
        AugmentReport(n=2, unchanged=1)
        """
        unchanged = sum(before == after for before, after in zip(texts, augmented, strict=True))
        return cls(n=len(texts), unchanged=unchanged)


@dataclass(frozen=True)
class AugmentedPairs:
    """The two views, row by row, and how many texts are unchanged in each.

    Parameters
    ----------
    left, right : list of str
    left_report, right_report : AugmentReport
    """

    left: list[str]
    right: list[str]
    left_report: AugmentReport
    right_report: AugmentReport


def augmented_pair(
    texts: Sequence[str],
    augmenter: Augmenter | tuple[Augmenter, Augmenter],
    seed: int,
    cache: AugmentCache | None = None,
) -> AugmentedPairs:
    """Make the two augmented views of a corpus.

    Parameters
    ----------
    texts : sequence of str
    augmenter : Augmenter or pair of Augmenter
        One for both views, which still differ, or one per view.
    seed : int
    cache : AugmentCache, optional
        Where views are cached, by fingerprint, seed, view and texts; without it nothing is cached.

    Returns
    -------
    AugmentedPairs

    Examples
    --------
    >>> from shoal.augment import CharSwap
    >>> pairs = augmented_pair(["database connection", "ok"], CharSwap(), seed=0)
    >>> pairs.left, pairs.left_report.unchanged
    (['dtabase connection', 'ok'], 1)
    """
    augmenters = augmenter if isinstance(augmenter, tuple) else (augmenter, augmenter)
    left, right = (_view(texts, each, seed, view, cache) for view, each in enumerate(augmenters))
    return AugmentedPairs(left, right, AugmentReport.compare(texts, left), AugmentReport.compare(texts, right))


def _view(texts: Sequence[str], augmenter: Augmenter, seed: int, view: int, cache: AugmentCache | None) -> list[str]:
    """Return one view, from the cache if it is there."""
    if cache is None:
        return augmenter.augment(texts, seed, view)
    key = cache.key(augmenter.fingerprint, seed, view, texts)
    augmented = cache.read(key)
    if augmented is None:
        augmented = augmenter.augment(texts, seed, view)
        cache.write(key, augmented)
    return augmented
