"""Parameters that several methods share, declared once; a method uses them as they are or with another default."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from shoal.encoder.representation import REPRESENTATIONS
from shoal.encoder.tokens import LONG_TEXTS, POOLING_KINDS, PRECISIONS
from shoal.encoder.word_frequencies import FREQUENCIES
from shoal.parameters import FLAG, Limit, number, one_of, optional, parameter, whole, width, words
from shoal.training.options import names_a_logger

_SEEDS = 2**32


def _is_seed(value: Any) -> bool:
    """Tell whether random numbers can be drawn from a value, as scikit-learn does."""
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        return bool(0 <= value < _SEEDS)
    return value is None or value is np.random or isinstance(value, np.random.RandomState)


def _is_representation(value: Any) -> bool:
    """Tell whether a value is the name of a representation, or an object that can be one."""
    if isinstance(value, str):
        return value in REPRESENTATIONS
    return hasattr(value, "encode") and hasattr(value, "fingerprint")


def _are_options(value: Any) -> bool:
    """Tell whether a value is a table of options by name, or None."""
    return value is None or (
        isinstance(value, Mapping)
        and all(isinstance(name, str) and isinstance(options, Mapping) for name, options in value.items())
        and all(isinstance(option, str) for options in value.values() for option in options)
    )


def _are_stop_words(value: Any) -> bool:
    """Tell whether a value is a list of words, 'english' or None."""
    listed = isinstance(value, list) and all(isinstance(word, str) for word in value)
    return listed or value is None or (isinstance(value, str) and value == "english")


RANDOM_STATE = parameter(
    0,
    "Seed of everything random: a whole number, a RandomState, or None for a different result each time.",
    Limit(_is_seed, f"is not a seed; pass a whole number from 0 to {_SEEDS - 1}."),
)
N_INIT = parameter(10, "Number of k-means starts; the best is kept.", whole())

# Texts to vectors
REPRESENTATION = parameter(
    "transformer",
    "How texts become vectors: 'transformer' (the backbone), 'meaning+words' (the same beside word statistics of the "
    "corpus), 'bow', 'tfidf', 'sif' (weighted word vectors), 'wordllama' (static), 'use', 'e5' (multilingual), or an "
    "object with encode(texts) and fingerprint.",
    Limit(
        _is_representation,
        f"is unknown; pass one of {', '.join(REPRESENTATIONS)}, or an object with encode(texts) and fingerprint.",
    ),
)
_BACKBONE = words("'auto', 'builtin', 'multilingual', 'use', 'e5', 'static', a folder, or a hub name")
BACKBONE = parameter(
    "auto",
    "The encoder: 'builtin' (English), 'multilingual' (of 'use', 16 languages, and 'e5', a hundred, the better one for "
    "the texts), 'static' (word vectors, fast), the folder of a transformer, or its hub name; 'auto' is 'builtin' for "
    "English texts and 'multilingual' for others.",
    _BACKBONE,
)
TRAINED_BACKBONE = BACKBONE.but(
    meaning="The transformer to train: 'builtin' (English), a folder, or a hub name; 'auto' is 'builtin' for English "
    "texts, and for others an error. Packaged encoders ('use', 'e5', 'static') are frozen and cannot be trained."
)
KEEP_LANGUAGE = parameter(
    False,
    "In texts of several languages, keep what tells the languages apart: texts may then be grouped by language. By "
    "default it is taken out of the vectors, and words, which no two languages share, are not compared.",
    FLAG,
)
POOLING = parameter(
    "mean", "How token states become one vector: their mean, or the state of the first token.", one_of(*POOLING_KINDS)
)
MAX_LENGTH = parameter(64, "Maximum number of tokens read per text.", whole())
LONG = parameter(
    "auto",
    "What to do with longer texts: read only the beginning ('truncate'), or the mean over chunks, weighted by their "
    "lengths ('chunk'); 'auto' reads chunks if more than a tenth of the texts would be cut off. Packaged encoders "
    "always read all.",
    one_of(*LONG_TEXTS),
)
ENCODER_PRECISION = parameter(
    "float32",
    "Arithmetic of the transformer: 'int8', 8-bit integers, is faster on a CPU with instructions for them, and changes "
    "some labels (docs/large-corpora.md).",
    one_of(*PRECISIONS),
)
NORMALIZE = parameter(True, "Scale vectors to unit length.", FLAG)
MAX_FEATURES = parameter(
    1500,
    "For 'bow' and 'tfidf': number of words in the vocabulary (1500 in SCCL and DECCRL, 2000 in ClusterBERT).",
    whole(),
)
STOP_WORDS = parameter(
    None,
    "For 'bow' and 'tfidf': words to omit, 'english' or a list (none in SCCL, English ones in ClusterBERT).",
    Limit(_are_stop_words, "is not valid; pass 'english', a list of words, or None."),
)
WORD_VECTORS = parameter(
    "corpus",
    "For 'sif': source of the word vectors: 'corpus' or 'word2vec' (trained on the texts), 'glove', or a file.",
    words("'corpus', 'word2vec', 'glove', or a file"),
)
SIF_A = parameter(1e-3, "For 'sif': a in the weight a / (a + p(w)) (Arora et al. 2017).", number(above=0))
WORD_FREQUENCIES = parameter(
    "auto",
    "For 'sif': where p(w) comes from: 'rank' (Zipf's law, by the place in a table of word vectors, which is sorted by "
    "frequency), 'wordfreq' (English; the extra of that name), 'corpus' (the texts themselves: it weighs down the "
    "words that are typical of their classes), or 'auto': the rank, or the texts for word vectors learnt from them.",
    one_of(*FREQUENCIES),
)
CACHE = parameter(True, "Cache the transformer's vectors on disk, by content.", FLAG)

# Clusters and losses
SCALE = parameter(
    6.0,
    "Factor on the vectors before the heads. It makes unit vectors as long as the built-in encoder's "
    "raw ones (4 to 6), because Student's t kernel has a fixed scale.",
    number(above=0),
)
ALPHA = parameter(1.0, "Degrees of freedom of Student's t kernel.", number(above=0))
TEMPERATURE = parameter(0.5, "Temperature τ of the contrastive loss.", number(above=0))
PROJECTION_DIM = parameter(128, "Output size of the contrastive head.", width())
UPDATE_INTERVAL = parameter(
    None,
    "Steps between two updates of the targets, and between two counts of changed labels; by default one epoch.",
    optional(whole()),
)

# Augmented views
AUGMENTATION = parameter(
    "neighbour",
    "Augmentation that makes the two views: 'neighbour' (contextual, offline), 'virtual' (dropout "
    "only), 'wordnet', 'contextual' (masked language models, as in the paper), 'back_translation', 'char_swap', "
    "'word_deletion', or a combination such as 'contextual+char_swap'.",
    words("the name of an augmenter, e.g. 'neighbour', or several joined by +"),
)
AUGMENTATION_STRENGTH = parameter(
    0.2,
    "Share of the words that an augmentation changes; a value in its name ('wordnet:0.1') takes precedence.",
    number(least=0, most=1),
)
AUGMENTATION_OPTIONS = parameter(
    None,
    "More options of the augmenters, by augmenter name.",
    Limit(_are_options, "but it must be a table of options by augmenter, e.g. {'wordnet': {'strength': 0.1}}."),
)

# Training
TOLERANCE = parameter(
    0.005,
    "Stop when less than this share of the labels changed between two evaluations; None never stops early.",
    optional(number(least=0, most=1)),
)
LOG_TO = parameter(
    None,
    "Where else to log the history: 'tensorboard', 'tensorboard:FOLDER' or 'mlflow'.",
    optional(Limit(names_a_logger, "is unknown; pass 'tensorboard', 'tensorboard:FOLDER' or 'mlflow'.")),
)
