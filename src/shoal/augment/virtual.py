"""No change to the text at all."""

from __future__ import annotations

from shoal.augment.base import Augmenter


class VirtualAugmentation(Augmenter):
    """Keep the texts: the two views differ by the encoder's dropout alone (Gao et al., 2021).

    Examples
    --------
    >>> VirtualAugmentation().augment(["as it is"], seed=0)
    ['as it is']
    """

    name = "virtual"
    changes_text = False

    def _rewrite(self, texts: list[str], seed: int, view: int) -> list[str]:
        return texts
