"""Texts with everything that came along: read from a file or a stream, or taken from objects in memory."""

from shoal.corpus.corpus import RESERVED, Corpus
from shoal.corpus.readers import read_table

__all__ = ["RESERVED", "Corpus", "read_table"]
