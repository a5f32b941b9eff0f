"""Augmented views of the texts, for the methods that train on them."""

from __future__ import annotations

import time
from typing import Any

from shoal.augment import AUGMENTERS, AugmentCache, Augmenter, augmented_pair, make_augmenter
from shoal.methods.context import FitContext
from shoal.methods.fine_tuned import FineTuned
from shoal.training import CorpusViews


def augmented_views(model: FineTuned, texts: list[str], seed: int, context: FitContext) -> CorpusViews:
    """Return the texts and two augmented views of each, tokenised; pairs in the context are used as the views."""
    tokenise = model.encoder_.tokenise
    tokens = tokenise(texts)
    if context.pairs is not None:
        return CorpusViews.joined([tokens, *map(tokenise, context.pairs)])
    augmenter = _augmenter(model, texts)
    if not augmenter.changes_text:
        return CorpusViews.repeated(tokens, 3)
    started = time.perf_counter()
    pairs = augmented_pair(texts, augmenter, seed, AugmentCache())
    left, right = pairs.left_report, pairs.right_report
    context.log("augment", started, unchanged_left=left.unchanged, unchanged_right=right.unchanged)
    return CorpusViews.joined([tokens, tokenise(pairs.left), tokenise(pairs.right)])


def _augmenter(model: FineTuned, texts: list[str]) -> Augmenter:
    """Build the augmenter, with what it needs from the corpus."""
    params = model.get_params(deep=False)
    options: dict[str, dict[str, Any]] = {
        name: {"strength": params["augmentation_strength"]}
        for name, kind in AUGMENTERS.items()
        if kind.spec_parameter == "strength"
    }
    options["neighbour"] |= {"texts": texts, "encode": model.encoder_.encode}
    for name, further in (params["augmentation_options"] or {}).items():
        options[name] = options.get(name, {}) | further
    return make_augmenter(params["augmentation"], options)
