"""Ranking questions by meaning: what else a sentence encoder is good for (ClusterBERT, figure 4).

The paper ranks AskUbuntu's questions (Lei et al. 2016), whose lists are not published with their texts. Here it is
Qatar Living's, SemEval-2016 task 3 B, in the folder ``cqa_qatar`` of the data sets: ``questions.tsv.gz`` with a header
``id<TAB>title<TAB>body``, ``dev.txt`` and ``test.txt`` with one query per line: its id, the ids of similar questions,
those of the candidates, and a search engine's scores, separated by tabs. All three are checked by their sha256.
"""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.errors import DataError
from shoal_bench.data_sets import data_folder

FOLDER = "cqa_qatar"
QUESTIONS, LISTS = "questions.tsv.gz", ("dev.txt", "test.txt")
SHA256 = {  # of the uncompressed content
    QUESTIONS: "891e4a88253f58955496c64d826f2c440e7a5e87bcdcb97ed4108d43b1e79bff",
    "dev.txt": "bad87272d1a630d07c18e985bc5780fff4ef5836c89aa09818cc939b49547d10",
    "test.txt": "477599483d3de7316b024f27e37ae16853b625ffe5abb248477b55be9cd13685",
}


@dataclass(frozen=True)
class QuestionRanking:
    """Queries with their candidates.

    Attributes
    ----------
    texts : list of str
        Title and body of every question.
    queries : list of int
        The row of each query.
    candidates : list of ndarray of int64
        The rows of each query's candidates.
    relevant : list of ndarray of bool
        Which of them are similar to it.
    """

    texts: list[str]
    queries: list[int]
    candidates: list[NDArray[np.int64]]
    relevant: list[NDArray[np.bool_]]

    @classmethod
    def load(cls, folder: Path | None = None, checksums: Mapping[str, str] = SHA256) -> QuestionRanking:
        """Read the questions and both lists: 117 queries, 104 of them with a similar candidate.

        Raises
        ------
        DataError
            If a file is not there, or is not the declared one.
        """
        files = (folder or data_folder()) / FOLDER
        content = {name: _read(files / name, checksum) for name, checksum in checksums.items()}
        rows = [line.split("\t") for line in content[QUESTIONS].splitlines()[1:]]
        place = {row[0]: number for number, row in enumerate(rows)}
        found = cls([f"{title} {body}" for _, title, body in rows], [], [], [])
        for line in (line for name in LISTS for line in content[name].splitlines()):
            query, similar, candidates, *_ = line.split("\t")
            found.queries.append(place[query])
            found.candidates.append(np.array([place[name] for name in candidates.split()]))
            found.relevant.append(np.isin(candidates.split(), similar.split()))
        return found

    def scores(self, encode: Callable[[list[str]], NDArray[np.float32]]) -> tuple[float, float]:
        """Rank every query's candidates by their cosine to it; return :func:`ranking_scores`."""
        vectors = encode(self.texts)
        unit = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
        cosines = [unit[names] @ unit[query] for query, names in zip(self.queries, self.candidates, strict=True)]
        return ranking_scores(cosines, self.relevant)


def ranking_scores(scores: Sequence[Any], relevant: Sequence[Any]) -> tuple[float, float]:
    """Mean average precision, and the mean reciprocal rank of the first relevant candidate, in [0, 1].

    Higher scores come first and ties keep the order of the input. A query without a relevant candidate is not part
    of the means; NaN if there is no other.

    Parameters
    ----------
    scores : sequence of arrays of float
        Per query, the score of each candidate; higher is better.
    relevant : sequence of arrays of bool
        Per query, whether each candidate is relevant.

    Examples
    --------
    >>> ranking_scores([[0.9, 0.5, 0.1], [0.2, 0.8], [0.4]], [[1, 0, 1], [1, 0], [0]])
    (0.6666666666666666, 0.75)
    """
    orders = [np.argsort(-np.asarray(values, dtype=np.float64), kind="stable") for values in scores]
    marks = [np.asarray(own, dtype=bool)[order] for own, order in zip(relevant, orders, strict=True)]
    ranks = [np.flatnonzero(own) + 1 for own in marks if own.any()]
    if not ranks:
        return float("nan"), float("nan")
    # the i-th relevant candidate, at rank r_i, has the precision i / r_i
    precisions = [np.mean(np.arange(1, own.size + 1) / own) for own in ranks]
    return float(np.mean(precisions)), float(np.mean([1 / own[0] for own in ranks]))


def _read(file: Path, checksum: str) -> str:
    """Read a file and refuse another content than the declared one."""
    try:
        content = file.read_bytes()
        content = gzip.decompress(content) if file.suffix == ".gz" else content
    except (OSError, EOFError) as reason:
        raise DataError(
            f"the question ranking: {file} cannot be read ({reason}); set SHOAL_DATA to the folder that holds "
            f"{FOLDER}, or omit the suites that rank questions."
        ) from reason
    found = hashlib.sha256(content).hexdigest()
    if found != checksum:
        raise DataError(
            f"{file} is not the declared one: the sha256 of its content is {found[:16]}…, expected "
            f"{checksum[:16]}…; put the declared file there."
        )
    return content.decode("utf-8")
