"""What the methods that start from vectors share: a representation of the texts, or vectors from elsewhere."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from shoal.clusterers import Vectors
from shoal.encoder.representation import Representation, load_representation, make_representation
from shoal.encoder.token_states import POOLINGS
from shoal.encoder.transformer import LONG_TEXTS
from shoal.errors import ParameterError
from shoal.methods.base import TextClusterer
from shoal.methods.checks import check_choices, check_counts, check_positive
from shoal.methods.inputs import Rows


class RepresentedClusterer(TextClusterer):
    """Base of the methods that start from vectors.

    Attributes
    ----------
    representation_ : Representation or None
        What turns texts into vectors; None if vectors were given.
    """

    representation_: Representation | None

    def _representation_options(self) -> dict[str, Any]:
        """Return ``representation`` and its parameters."""
        options: dict[str, Any] = self.get_params(deep=False)
        return options

    def _fit_representation(self, rows: Rows) -> Vectors:
        """Load or learn the representation, if texts need one; return the vectors of ``rows``."""
        started = time.perf_counter()
        self.representation_ = None
        if rows.texts is not None and rows.vectors is None:
            options = self._representation_options()
            self.representation_ = make_representation(options["representation"], options).fit(rows.texts)
        vectors = self._represent(rows)
        self.n_features_in_ = vectors.shape[1]
        self._log("represent", started, dimension=vectors.shape[1])
        return vectors

    def _represent(self, rows: Rows) -> Vectors:
        """Return the vectors that were given, or the representation's."""
        if rows.vectors is not None:
            return rows.vectors
        if self.representation_ is None or rows.texts is None:
            raise ParameterError("this model has no representation for texts; pass vectors= as in fit.")
        vectors = self.representation_.encode(rows.texts)
        self.truncated_ = self.representation_.truncated
        return vectors

    def _check_representation(self) -> None:
        """Name the first parameter of the representation that does not work."""
        params = self.get_params(deep=False)
        choices = {"pooling": tuple(POOLINGS), "long_texts": LONG_TEXTS}
        check_choices(params, {**choices, "normalize": (True, False), "cache": (True, False)})
        check_counts(params, ("max_features", "max_length"))
        check_positive(params, {"sif_a": 0.001})
        words = params["stop_words"]
        if words not in (None, "english") and not (
            isinstance(words, list) and all(isinstance(word, str) for word in words)
        ):
            raise ParameterError(f"stop_words={words!r} does not work; pass 'english', a list of words, or None.")

    def _save(self, folder: Path) -> dict[str, Any]:
        if self.representation_ is not None:
            self.representation_.save(folder)
        named = isinstance(self._representation_options()["representation"], str)
        return {"encodes_texts": self.representation_ is not None and named}

    def _restore(self, folder: Path, config: dict[str, Any]) -> None:
        self.representation_ = None
        if config["encodes_texts"]:
            options = self._representation_options()
            self.representation_ = load_representation(options["representation"], folder, options)
        self.fitted_on_vectors_ = not config["encodes_texts"]
