"""Several augmenters, one after the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from shoal.augment.base import Augmenter
from shoal.errors import ParameterError


class Compose(Augmenter):
    """Apply augmenters in turn, such as "contextual, then char swap" (SCCL, section 4.3.2).

    Parameters
    ----------
    augmenters : sequence of Augmenter

    Examples
    --------
    >>> from shoal.augment import CharSwap, WordDeletion
    >>> both = Compose([WordDeletion(), CharSwap()])
    >>> both.name
    'word_deletion+char_swap'
    >>> both.augment(["restart the server after every update"], seed=0)
    ['restrt the server every update']
    """

    def __init__(self, augmenters: Sequence[Augmenter]) -> None:
        if not augmenters:
            raise ParameterError("augmenters=[] but at least one is needed; pass an augmenter.")
        self.augmenters = list(augmenters)
        self.name = "+".join(augmenter.name for augmenter in self.augmenters)
        self.changes_text = any(augmenter.changes_text for augmenter in self.augmenters)

    def _identity(self) -> Mapping[str, object]:
        return {"steps": [augmenter.fingerprint for augmenter in self.augmenters]}

    def _rewrite(self, texts: list[str], seed: int, view: int) -> list[str]:
        for augmenter in self.augmenters:
            texts = augmenter.augment(texts, seed, view)
        return texts
