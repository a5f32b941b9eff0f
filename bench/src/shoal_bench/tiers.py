"""How much is measured: a first try, what fits a CPU, or the papers' own protocol."""

from __future__ import annotations

from dataclasses import dataclass

from shoal.errors import ParameterError


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
    summary : str
        One line for people.
    """

    name: str
    cheap_texts: int | None
    expensive_texts: int | None
    seeds: tuple[int, ...]
    summary: str

    def texts(self, cost: str) -> int | None:
        """Return the most texts that a row of this cost gets."""
        return self.expensive_texts if cost == "expensive" else self.cheap_texts


TIERS: dict[str, Tier] = {
    tier.name: tier
    for tier in (
        Tier("quick", 2_000, 2_000, (0,), "2,000 texts, one seed: minutes, to see that everything works"),
        Tier("standard", None, 5_000, (0, 1, 2), "whole sets for cheap rows, 5,000 texts for expensive ones, 3 seeds"),
        Tier("paper", None, None, (0, 1, 2, 3, 4), "whole sets, the papers' own values where a row has them, 5 seeds"),
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
