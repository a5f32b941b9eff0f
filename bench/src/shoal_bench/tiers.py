"""How much is measured: a first try, what fits a CPU, or the papers' own protocol."""

from __future__ import annotations

from dataclasses import dataclass

from shoal.errors import ParameterError


@dataclass(frozen=True)
class SpeedTier:
    """How much the speed suite measures.

    Attributes
    ----------
    n_texts, repeats : int
        Texts of a ratio, and its turns.
    batch_size, steps : int
        Texts of a training step, and steps of a turn.
    sizes : tuple of int
        Numbers of texts at which growth is measured.
    """

    n_texts: int
    repeats: int
    batch_size: int
    steps: int
    sizes: tuple[int, ...]


@dataclass(frozen=True)
class Tier:
    """How many texts and seeds a cell of a table gets.

    Attributes
    ----------
    name : str
        Its name.
    cheap_texts, expensive_texts : int or None
        Most texts for rows that cost little and for rows that train; None for all.
    seeds : tuple of int
        One run for each.
    speed : SpeedTier
        How much the speed suite measures.
    """

    name: str
    cheap_texts: int | None
    expensive_texts: int | None
    seeds: tuple[int, ...]
    speed: SpeedTier

    @property
    def summary(self) -> str:
        """One line for people."""
        return _WORDS[self.name]

    def texts(self, cost: str) -> int | None:
        """Return the most texts that a row of this cost gets."""
        return self.expensive_texts if cost == "expensive" else self.cheap_texts


_SIZES = (1_000, 3_000, 10_000, 30_000, 100_000, 200_000)
_WORDS = {
    "quick": "2,000 texts, one seed: minutes, to see that everything works",
    "standard": "whole sets for cheap rows, 5,000 texts for expensive ones, 3 seeds",
    "paper": "whole sets, the papers' own values where a row has them, 5 seeds",
}
TIERS: dict[str, Tier] = {
    tier.name: tier
    for tier in (
        Tier("quick", 2_000, 2_000, (0,), SpeedTier(1_000, 3, 100, 1, _SIZES[:2])),
        Tier("standard", None, 5_000, (0, 1, 2), SpeedTier(4_000, 5, 400, 1, _SIZES[:4])),
        Tier("paper", None, None, (0, 1, 2, 3, 4), SpeedTier(10_000, 5, 400, 3, _SIZES)),
    )
}


def find_tier(name: str) -> Tier:
    """Return the tier called ``name``.

    Examples
    --------
    >>> find_tier("standard").texts("expensive")
    5000
    """
    if name not in TIERS:
        raise ParameterError(f"there is no tier {name!r}; the tiers are {', '.join(TIERS)}.")
    return TIERS[name]
