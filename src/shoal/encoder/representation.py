"""The representations by name: every way from texts to vectors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Self, cast

import numpy as np
from numpy.typing import NDArray

from shoal.encoder.backbone import source_of
from shoal.encoder.language_free import LanguageFree
from shoal.encoder.light_bert import LightBert
from shoal.encoder.meaning_and_words import MeaningAndWords
from shoal.encoder.packaged import BACKBONES, PACKAGED, TextEncoder
from shoal.encoder.shards import encode_shards
from shoal.encoder.sif import SIF
from shoal.encoder.tokens import PRECISIONS
from shoal.encoder.vector_cache import EncodedTexts, read_vectors, store_vectors, vector_key
from shoal.encoder.word_counts import WordCounts
from shoal.errors import ParameterError
from shoal.scratch import release, scratch
from shoal.vectors import unit_rows

if TYPE_CHECKING:
    from shoal.encoder.transformer import TransformerEncoder

# Vectors of large corpora are cached in shards of so many texts, each the work of a minute or less.
SHARD_TEXTS = 25_000
TRANSFORMER, MEANING_AND_WORDS = "transformer", "meaning+words"
REPRESENTATIONS = (TRANSFORMER, MEANING_AND_WORDS, "bow", "tfidf", "sif", *PACKAGED)
# So few texts are encoded in NumPy before torch would be imported.
FEW = 16


class Representation(Protocol):
    """Turns texts into vectors, some kinds after learning from the corpus."""

    @property
    def truncated(self) -> int:
        """How many texts of the last call to ``encode`` were cut off."""

    def fit(self, texts: Sequence[str]) -> Self:
        """Learn from the corpus, where the representation learns anything."""

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one vector per text."""

    def save(self, folder: Path) -> None:
        """Write what :func:`load_representation` needs into ``folder``."""


class CachedEncoder:
    """An encoder that learns nothing from the corpus, as a representation; its vectors are cached on disk.

    Parameters
    ----------
    encoder : TextEncoder
        A transformer, a packaged encoder, or the user's own object.
    cache : bool, default=True
        Whether to cache the vectors of a corpus.
    """

    def __init__(self, encoder: TextEncoder | TransformerEncoder, cache: bool = True) -> None:
        self.encoder = encoder
        self.cache = cache
        self.truncated = 0

    @cached_property
    def _fingerprint(self) -> str:
        """The encoder's fingerprint, which is expensive and does not change: computed once."""
        return self.encoder.fingerprint

    @property
    def long_texts(self) -> str | None:
        """How a transformer reads long texts; None for other encoders, which read them in full."""
        return getattr(self.encoder, "long_texts", None)

    def fit(self, texts: Sequence[str]) -> Self:
        """Let a transformer decide how it reads long texts; nothing else is learnt."""
        if _is_transformer(self.encoder):
            cast("TransformerEncoder", self.encoder).settle_long_texts(texts)
        return self

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one vector per text, from the cache if they are there; what was cached is not encoded again."""
        vectors: NDArray[np.float32] | None = None
        self.truncated = 0
        for begin, shard in self._shards(texts):
            self.truncated += shard.truncated
            if len(texts) <= SHARD_TEXTS:
                return shard.vectors
            vectors = scratch((len(texts), shard.vectors.shape[1])) if vectors is None else vectors
            vectors[begin : begin + SHARD_TEXTS] = shard.vectors
            release(vectors)
        return cast(NDArray[np.float32], vectors)

    def _shards(self, texts: Sequence[str]) -> Iterator[tuple[int, EncodedTexts]]:
        """Yield the vectors of the texts and where they begin: those in the cache, then the others as they come."""
        # A single text is encoded faster than it is looked up, and would litter the cache.
        cached = self.cache and len(texts) > 1
        missing = {}
        for begin in range(0, max(len(texts), 1), SHARD_TEXTS):
            shard = texts[begin : begin + SHARD_TEXTS]
            key = vector_key(self._fingerprint, shard) if cached else None
            found = read_vectors(key) if key else None
            if found is None:
                missing[begin] = key, shard
            else:
                yield begin, found
        computed = encode_shards(self.encoder, [shard for _, shard in missing.values()]) if missing else ()
        for (begin, (key, _)), encoded in zip(missing.items(), computed, strict=True):
            if key:
                store_vectors(key, encoded)
            yield begin, encoded

    def save(self, folder: Path) -> None:
        """Write a transformer's folder; other encoders have nothing to save."""
        if _is_transformer(self.encoder):
            cast("TransformerEncoder", self.encoder).save(folder)


class SavedTransformer(CachedEncoder):
    """A transformer in a saved model, loaded when it is needed: ``FEW`` short texts are encoded without torch.

    Parameters
    ----------
    folder : Path
        The folder of the model.
    options : mapping
        As for :func:`make_representation`.
    """

    def __init__(self, folder: Path, options: Mapping[str, Any]) -> None:
        self._folder, self._options = folder, {**options, "backbone": str(folder)}
        self.cache = options["cache"]
        self.truncated = 0

    def __getstate__(self) -> dict[str, Any]:
        """Take the transformer along to another machine, which has no such folder."""
        state = {**self.__dict__, "encoder": self.encoder}
        state.pop("_light", None)
        return state

    @cached_property
    def encoder(self) -> TransformerEncoder:  # type: ignore[override]
        """The transformer itself."""
        return cast("TransformerEncoder", _sentence_encoder("transformer", self._options))

    @cached_property
    def _light(self) -> LightBert | None:
        """The same in NumPy, if it is a plain BERT in the usual arithmetic."""
        if self._options.get("encoder_precision", PRECISIONS[0]) != PRECISIONS[0]:
            return None
        try:
            return LightBert(Path(source_of(str(self._folder))))
        except (LookupError, TypeError, ValueError, OSError):  # TransformerEncoder reads it, or says what is wrong
            return None

    @property
    def long_texts(self) -> str | None:
        """How it reads long texts."""
        return str(self._options["long_texts"])

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one vector per text."""
        if len(texts) <= FEW and "encoder" not in self.__dict__ and self._light is not None:
            vectors = self._light.encode(texts, self._options["max_length"], self._options["pooling"])
            if vectors is not None:
                self.truncated = 0
                return unit_rows(vectors) if self._options["normalize"] else vectors
        return super().encode(texts)


def make_representation(kind: Any, options: Mapping[str, Any]) -> Representation:
    """Build a representation, not yet fitted.

    Parameters
    ----------
    kind : str or TextEncoder
        One of ``REPRESENTATIONS``, or an object with ``encode`` and ``fingerprint``.
    options : mapping
        backbone, pooling, max_length, long_texts, normalize, max_features, stop_words, word_vectors, sif_a,
        word_frequencies, cache; unit_length, encoder_precision and languages, where a method has them. The vectors of
        a corpus in several ``languages`` are freed from their language.

    Examples
    --------
    >>> make_representation("bow", {"max_features": 10, "stop_words": None}).fit(["a cat sat"]).encode(["cat cat"])
    array([[2., 0.]], dtype=float32)
    """
    if _encodes_sentences(kind):
        encoder = CachedEncoder(_sentence_encoder(kind, options), options["cache"])
        languages = options.get("languages")
        return encoder if languages is None or not languages.mixed else LanguageFree(encoder, languages)
    if kind == MEANING_AND_WORDS:
        meaning = make_representation(TRANSFORMER, options)
        # Two languages share no words: by words, texts would be grouped by language.
        return meaning if isinstance(meaning, LanguageFree) else MeaningAndWords(cast(CachedEncoder, meaning))
    if kind in ("bow", "tfidf"):
        return WordCounts(tfidf=kind == "tfidf", max_features=options["max_features"], stop_words=options["stop_words"])
    if kind == "sif":
        return SIF(
            word_vectors=options["word_vectors"],
            a=options["sif_a"],
            frequencies=options["word_frequencies"],
            unit=options.get("unit_length", False),
        )
    raise ParameterError(
        f"representation={kind!r} is unknown; pass one of {', '.join(REPRESENTATIONS)}, or an object with "
        "encode(texts) and fingerprint."
    )


def _is_transformer(encoder: object) -> bool:
    """Tell whether an encoder is a transformer; torch is not imported before it is needed."""
    from shoal.encoder.transformer import TransformerEncoder

    return isinstance(encoder, TransformerEncoder)


def _encodes_sentences(kind: Any) -> bool:
    """Tell whether a representation encodes each text by itself, whatever the corpus."""
    if isinstance(kind, str):
        return kind == "transformer" or kind in PACKAGED
    return hasattr(kind, "encode") and hasattr(kind, "fingerprint")


def _sentence_encoder(kind: Any, options: Mapping[str, Any]) -> TextEncoder | TransformerEncoder:
    """Return the encoder itself: the user's own, a packaged one, or a transformer."""
    if not isinstance(kind, str):
        own: TextEncoder = kind
        return own
    precision = options.get("encoder_precision", PRECISIONS[0])
    if kind == "transformer" and options["backbone"] not in BACKBONES:
        from shoal.encoder.transformer import TransformerEncoder

        names = ("pooling", "max_length", "long_texts", "normalize")
        chosen = {name: options[name] for name in names}
        return TransformerEncoder.load(options["backbone"], **chosen, precision=precision)
    encoder = BACKBONES[options["backbone"]] if kind == "transformer" else kind
    if precision != PRECISIONS[0]:
        raise ParameterError(
            f"encoder_precision={precision!r} is for transformers, but {encoder!r} has an arithmetic of its own; "
            "omit it, or pass backbone='builtin'."
        )
    return PACKAGED[encoder]()


def load_representation(kind: str, folder: Path, options: Mapping[str, Any]) -> Representation:
    """Read a representation that was saved in ``folder``; nothing is read from elsewhere."""
    if _encodes_sentences(kind):
        packaged = kind != "transformer" or options["backbone"] in BACKBONES
        bare = (
            make_representation(kind, {**options, "languages": None})
            if packaged
            else SavedTransformer(folder, {**options, "languages": None})
        )
        return LanguageFree.load(folder, cast(CachedEncoder, bare)) if LanguageFree.is_saved(folder) else bare
    if kind == MEANING_AND_WORDS:
        meaning = load_representation(TRANSFORMER, folder, options)
        saved = MeaningAndWords.is_saved(folder)
        return MeaningAndWords.load(folder, cast(CachedEncoder, meaning)) if saved else meaning
    if kind in ("bow", "tfidf"):
        return WordCounts.load(folder)
    if kind == "sif":
        return SIF.load(folder, options.get("unit_length", False))
    raise ParameterError(f"representation={kind!r} is unknown; pass one of {', '.join(REPRESENTATIONS)}.")
