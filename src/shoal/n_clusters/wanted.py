"""The number of clusters as a user writes it: a number, a range, or ``"auto"``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.errors import ParameterError
from shoal.parameters import shown

AUTO = "auto"
_RANGE = re.compile(r"\s*(\d{1,9})\s*(?:-|–|\.\.)\s*(\d{1,9})\s*")


@dataclass(frozen=True)
class Wanted:
    """The numbers of clusters that are wanted, from ``least`` to ``most``; None means no upper limit.

    Examples
    --------
    >>> Wanted(5, 5).exact, Wanted(2, None).exact
    (5, None)
    """

    least: int
    most: int | None

    @property
    def exact(self) -> int | None:
        """The number, if only one is wanted."""
        return self.least if self.least == self.most else None


def parse_wanted(value: Any) -> Wanted:
    """Read a number, a range such as ``"5-80"`` or ``(5, 80)``, or ``"auto"``.

    Examples
    --------
    >>> parse_wanted(8), parse_wanted("5-80"), parse_wanted("auto")
    (Wanted(least=8, most=8), Wanted(least=5, most=80), Wanted(least=1, most=None))
    """
    if isinstance(value, str):
        if value.strip().lower() == AUTO:
            return Wanted(1, None)
        if value.strip().isdigit() and len(value.strip()) < 10:
            value = int(value)
        elif found := _RANGE.fullmatch(value):
            value = (int(found[1]), int(found[2]))
    if _is_whole(value):
        value = (value, value)
    if not isinstance(value, list | tuple) or len(value) != 2 or not all(map(_is_whole, value)):
        raise ParameterError(
            f"n_clusters={shown(value)} is not a whole number; pass an int >= 1, a range such as '5-80', or 'auto'."
        )
    least, most = int(value[0]), int(value[1])
    if least < 1:
        raise ParameterError(f"n_clusters={shown(least)} but it must be at least 1; pass n_clusters >= 1.")
    if least > most:
        raise ParameterError(f"n_clusters={least}-{most} ends before it begins; pass '{most}-{least}'.")
    return Wanted(least, most)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)
