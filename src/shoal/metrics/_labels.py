"""Labels of any kind as integer codes."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shoal.errors import DataError

Labels: TypeAlias = Sequence[Hashable] | NDArray[Any]


@dataclass(frozen=True)
class LabelCodes:
    """Codes 0, 1, … in the order of first appearance, -1 where the label is missing."""

    codes: NDArray[np.intp]
    names: list[Hashable]


def encode(labels: Labels, argument: str, missing: tuple[Hashable, ...] = (None, -1)) -> LabelCodes:
    """Give each label a code; NaN and the values of ``missing`` get the code -1."""
    index: dict[Hashable, int] = {}
    try:
        # tolist, not asarray: numpy would turn the mixed labels [1, "1"] into one and the same string
        values = labels.tolist() if isinstance(labels, np.ndarray) else list(labels)
        codes = [-1 if label in missing or label != label else index.setdefault(label, len(index)) for label in values]
    except (TypeError, ValueError) as error:
        raise DataError(
            f"{argument} of type {type(labels).__name__} is not a flat list of labels; "
            "pass one number, string or None per text."
        ) from error
    return LabelCodes(np.array(codes, dtype=np.intp), list(index))
