"""Sorting a table of any size with a fitted model, block by block; no command line needed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.corpus import Corpus
from shoal.corpus.sources.blocks import BlockedTable, TableBlock
from shoal.encoder.representation import SHARD_TEXTS
from shoal.engine import block_size, map_shared
from shoal.errors import DataError
from shoal.methods.base import TextClusterer
from shoal.progress import progress

# Rows that are sorted at a time: a shard of the cache, so that the vectors of the fitted texts are found there again.
BLOCK_ROWS = SHARD_TEXTS


@dataclass(frozen=True)
class SortedBlock:
    """Rows with their clusters, and what is counted of them."""

    frame: pl.DataFrame
    empty: int
    outliers: int
    truncated: int


@dataclass(frozen=True)
class Sorter:
    """Sorts one block: what each worker is given once.

    Parameters
    ----------
    model : TextClusterer
        The fitted model.
    text : str
        The column with the texts.
    min_confidence : float, default=0
        Texts below it get no cluster.
    """

    model: TextClusterer
    text: str
    min_confidence: float = 0.0

    def __call__(self, block: tuple[TableBlock, NDArray[np.float32] | None]) -> SortedBlock:
        """Read a block, and sort its rows; vectors of the texts may come with it."""
        rows, vectors = block
        corpus = Corpus.of(rows.read(), text=self.text)
        self.model.truncated_ = 0
        found = self.model.predict_clustering(corpus.texts, vectors=vectors)
        found = replace(found, labels=found.labels_at(self.min_confidence))
        added = found.frame()
        outliers = int((added["cluster"].is_null() & added["second_cluster"].is_not_null()).sum())
        frame = pl.concat([corpus.input_columns(), added], how="horizontal")
        return SortedBlock(frame, int(corpus.empty.sum()), outliers, self.model.truncated_)


@dataclass
class Sorting:
    """A table that is being sorted: iterate once over :meth:`frames`; afterwards the counts are those of all rows.

    Parameters
    ----------
    sorter : Sorter
        Sorts each block.
    table : BlockedTable
        The rows. Those of parquet files are read by whoever sorts them, those of large text files here.
    vectors : ndarray, optional
        A vector per row, for a model fitted on vectors.

    Examples
    --------
    >>> from shoal import TwoStage
    >>> from shoal.corpus.sources.blocks import MemoryTable
    >>> texts = ["red apple", "green apple", "ripe apple", "fast car", "slow car", "new car"]
    >>> model = TwoStage(n_clusters=2, representation="tfidf").fit(texts)
    >>> sorting = Sorting(Sorter(model, "text"), MemoryTable(pl.DataFrame({"text": [*texts, ""]})))
    >>> [frame["cluster"].null_count() for frame in sorting.frames()], sorting.empty, int(sorting.sizes.sum())
    ([1], 1, 6)
    """

    sorter: Sorter
    table: BlockedTable
    vectors: NDArray[np.float32] | None = None
    empty: int = field(default=0, init=False)
    outliers: int = field(default=0, init=False)
    truncated: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        if self.vectors is not None and len(self.vectors) != len(self.table):
            raise DataError(f"there are {len(self.vectors)} vectors for {len(self.table)} rows; pass one per row.")
        self.sizes = np.zeros(self.sorter.model.n_clusters_, dtype=np.int64)

    def frames(self) -> Iterator[pl.DataFrame]:
        """Yield the rows with their clusters, in order."""
        n_rows = len(self.table)
        blocks = (
            (block, None if self.vectors is None else self.vectors[block.begin : block.begin + block.n_rows])
            for block in self.table.blocks(block_size(n_rows, BLOCK_ROWS))
        )
        with progress("Sorting", n_rows) as bar:
            for block in map_shared(self.sorter, blocks, n_rows):
                self.empty += block.empty
                self.outliers += block.outliers
                self.truncated += block.truncated
                self.sizes += np.bincount(block.frame["cluster"].drop_nulls().to_numpy(), minlength=len(self.sizes))
                yield block.frame
                bar.advance(len(block.frame))
