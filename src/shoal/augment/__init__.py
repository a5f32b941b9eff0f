"""Texts in, texts out: other ways to say the same."""

from __future__ import annotations

from shoal.augment.back_translation import BackTranslation
from shoal.augment.base import Augmenter
from shoal.augment.bleu import bleu
from shoal.augment.cache import AugmentCache
from shoal.augment.char_swap import CharSwap
from shoal.augment.compose import Compose
from shoal.augment.contextual import MaskedLMSubstitution
from shoal.augment.neighbour import NeighbourSubstitution
from shoal.augment.pairs import AugmentedPairs, AugmentReport, augmented_pair
from shoal.augment.round_trip import FastTranslateRoundTrip, MarianRoundTrip, RoundTrip
from shoal.augment.spec import AUGMENTERS, make_augmenter
from shoal.augment.virtual import VirtualAugmentation
from shoal.augment.word_deletion import WordDeletion
from shoal.augment.wordnet import WordNetSubstitution
from shoal.text.word_space import WordSpace

__all__ = [
    "AUGMENTERS",
    "AugmentCache",
    "AugmentReport",
    "AugmentedPairs",
    "Augmenter",
    "BackTranslation",
    "CharSwap",
    "Compose",
    "FastTranslateRoundTrip",
    "MarianRoundTrip",
    "MaskedLMSubstitution",
    "NeighbourSubstitution",
    "RoundTrip",
    "VirtualAugmentation",
    "WordDeletion",
    "WordNetSubstitution",
    "WordSpace",
    "augmented_pair",
    "bleu",
    "make_augmenter",
]
