"""Augmenters by name."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from shoal.augment.back_translation import BackTranslation
from shoal.augment.base import Augmenter
from shoal.augment.char_swap import CharSwap
from shoal.augment.compose import Compose
from shoal.augment.contextual import MaskedLMSubstitution
from shoal.augment.neighbour import NeighbourSubstitution
from shoal.augment.virtual import VirtualAugmentation
from shoal.augment.word_deletion import WordDeletion
from shoal.augment.wordnet import WordNetSubstitution
from shoal.errors import ParameterError

AUGMENTERS: dict[str, type[Augmenter]] = {
    augmenter.name: augmenter
    for augmenter in (
        WordDeletion,
        CharSwap,
        WordNetSubstitution,
        MaskedLMSubstitution,
        NeighbourSubstitution,
        BackTranslation,
        VirtualAugmentation,
    )
}


def make_augmenter(spec: str, options: Mapping[str, Mapping[str, Any]] | None = None) -> Augmenter:
    """Make an augmenter from a spec such as ``"wordnet:0.1"`` or ``"contextual+char_swap"``.

    Parameters
    ----------
    spec : str
        Names joined by "+", each with an optional strength after a colon; for back_translation "lowest", "medium" or
        "highest".
    options : mapping of name to mapping, optional
        Further parameters by augmenter, as in ``{"neighbour": {"texts": corpus, "encode": encode}}``. Augmenters
        that the spec does not name are ignored.

    Returns
    -------
    Augmenter

    Raises
    ------
    ParameterError
        If a name, value or option is unknown, or an option is missing.

    Examples
    --------
    >>> make_augmenter("wordnet:0.1").strength
    0.1
    >>> make_augmenter("word_deletion+char_swap:0.3").name
    'word_deletion+char_swap'
    """
    steps = [_make_step(step.strip(), options or {}) for step in spec.split("+")]
    return steps[0] if len(steps) == 1 else Compose(steps)


def _make_step(step: str, options: Mapping[str, Mapping[str, Any]]) -> Augmenter:
    """Make one of the augmenters."""
    name, colon, value = step.partition(":")
    if name not in AUGMENTERS:
        raise ParameterError(f"augmenter {name!r} is unknown; pass one of {', '.join(sorted(AUGMENTERS))}.")
    augmenter = AUGMENTERS[name]
    parameters = dict(options.get(name, {}))
    if colon:
        parameters |= _spec_value(augmenter, step, value)
    try:
        inspect.signature(augmenter).bind(**parameters)
    except TypeError as error:
        known = ", ".join(inspect.signature(augmenter).parameters) or "none"
        raise ParameterError(
            f"augmenter {name!r}: {error}; its parameters are: {known}. Pass them as options={{{name!r}: {{...}}}}."
        ) from error
    return augmenter(**parameters)


def _spec_value(augmenter: type[Augmenter], step: str, value: str) -> dict[str, Any]:
    """Return the value after the colon, by parameter."""
    if augmenter.spec_parameter is None:
        raise ParameterError(f"{step!r} has a value but {augmenter.name} takes none; pass {augmenter.name!r}.")
    if augmenter.spec_parameter != "strength":
        return {augmenter.spec_parameter: value}
    try:
        return {"strength": float(value)}
    except ValueError:
        raise ParameterError(
            f"{step!r} but a strength is a number; pass for instance '{augmenter.name}:0.2'."
        ) from None
