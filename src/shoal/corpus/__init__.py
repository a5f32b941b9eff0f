"""Texts with the table they came in, from a file, a stream, many files, a store, a database or objects in memory."""

from shoal.corpus.columns import columns_of, require_column, strings_of, texts_of
from shoal.corpus.corpus import RESERVED, Corpus
from shoal.corpus.readers import read_table
from shoal.corpus.sources import read_source
from shoal.corpus.targets import write_target
from shoal.corpus.writers import without_formulas, write_table

__all__ = [
    "RESERVED",
    "Corpus",
    "columns_of",
    "read_source",
    "read_table",
    "require_column",
    "strings_of",
    "texts_of",
    "without_formulas",
    "write_table",
    "write_target",
]
