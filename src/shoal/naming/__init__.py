"""Keywords, examples and names for clusters."""

from shoal.naming.describe import ClusterDescription, describe
from shoal.naming.keywords import c_tf_idf
from shoal.naming.stop_words import STOP_WORDS
from shoal.naming.topics import describe_topics
from shoal.naming.words import words

__all__ = ["STOP_WORDS", "ClusterDescription", "c_tf_idf", "describe", "describe_topics", "words"]
