"""Parameters that several methods have, declared once; a method takes them as they are or with another default."""

from __future__ import annotations

from typing import Any

from shoal.encoder.token_states import POOLINGS
from shoal.encoder.transformer import LONG_TEXTS
from shoal.parameters import FLAG, Limit, number, one_of, optional, parameter, whole


def _are_stop_words(value: Any) -> bool:
    """Tell whether it is a list of words, 'english' or None."""
    listed = isinstance(value, list) and all(isinstance(word, str) for word in value)
    return listed or value is None or (isinstance(value, str) and value == "english")


RANDOM_STATE = parameter(0, "Seed: a whole number, a RandomState, or None for a different result each time.")
N_INIT = parameter(10, "Starts of k-means; the best is kept.", whole())

# Texts to vectors
REPRESENTATION = parameter(
    "transformer",
    "What the texts become: 'transformer' (the vectors of a backbone), 'bow', 'tfidf', 'sif' (weighted word vectors), "
    "'wordllama' (static), 'use', 'e5' (multilingual), or an object with encode(texts) and fingerprint.",
)
BACKBONE = parameter("builtin", "The transformer: the built-in model, a folder, or a hub name.")
POOLING = parameter("mean", "Mean over the tokens, or the state of the first token.", one_of(*POOLINGS))
MAX_LENGTH = parameter(64, "The most tokens that are read of a text.", whole())
LONG = parameter("truncate", "Read the head of a longer text, or average over its chunks.", one_of(*LONG_TEXTS))
NORMALIZE = parameter(True, "Unit vectors.", FLAG)
MAX_FEATURES = parameter(
    1500, "For 'bow' and 'tfidf': number of words (1500 in SCCL and DECCRL, 2000 in ClusterBERT).", whole()
)
STOP_WORDS = parameter(
    None,
    "For 'bow' and 'tfidf': words to omit, 'english' or a list (none in SCCL, English ones in ClusterBERT).",
    Limit(_are_stop_words, "does not work; pass 'english', a list of words, or None."),
)
WORD_VECTORS = parameter(
    "corpus", "For 'sif': 'corpus' or 'word2vec' (trained on the texts), 'glove', or a file of word vectors."
)
SIF_A = parameter(1e-3, "For 'sif': a of the weight a / (a + p(w)) (Arora et al. 2017).", number(above=0))
CACHE = parameter(True, "Keep the vectors of a transformer on disk, found again by content.", FLAG)

# Clusters and losses
SCALE = parameter(
    6.0,
    "What the vectors are multiplied with before the heads, so that unit vectors are as long there as the raw ones of "
    "the built-in encoder (4 to 6): Student's t kernel has a unit of its own.",
    number(above=0),
)
ALPHA = parameter(1.0, "Degrees of freedom of Student's t kernel.", number(above=0))
TEMPERATURE = parameter(0.5, "τ of the contrastive loss.", number(above=0))
PROJECTION_DIM = parameter(128, "Outputs of the contrastive head.", whole())
UPDATE_INTERVAL = parameter(
    None,
    "Steps between two targets, and between two counts of the labels that moved; by default once per epoch.",
    optional(whole()),
)

# Augmented views
AUGMENTATION = parameter(
    "neighbour",
    "What makes the two views: 'neighbour' (contextual, offline), 'virtual' (dropout alone), 'wordnet', "
    "'contextual' (masked language models, as in the paper), 'back_translation', 'char_swap', 'word_deletion', or a "
    "composition such as 'contextual+char_swap'.",
)
AUGMENTATION_STRENGTH = parameter(
    0.2, "Share of the words that an augmentation changes; a value in the name ('wordnet:0.1') wins."
)
AUGMENTATION_OPTIONS = parameter(None, "Further parameters of the augmenters, by name.")

# Training
TOLERANCE = parameter(0.005, "Stop when less than this share of the labels moved between two evaluations; None: never.")
LOG_TO = parameter(None, "Where else the history goes: 'tensorboard', 'tensorboard:FOLDER' or 'mlflow'.")
