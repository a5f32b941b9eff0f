"""Vectors for the methods that start from them: from a representation of the texts, or from elsewhere."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from shoal.encoder.representation import Representation, load_representation, make_representation
from shoal.errors import ParameterError
from shoal.methods.base import TextClusterer
from shoal.methods.context import FitContext
from shoal.methods.inputs import Rows
from shoal.vectors import Vectors


def fit_representation(
    model: TextClusterer, context: FitContext, options: Mapping[str, Any]
) -> tuple[Representation | None, Vectors]:
    """Load or fit a representation if the texts need one; return it and the vectors of the rows.

    ``options`` are ``representation`` and its parameters.
    """
    started = time.perf_counter()
    representation, rows = None, context.rows
    if rows.texts is not None and rows.vectors is None:
        representation = make_representation(options["representation"], options).fit(rows.texts)
    vectors = represent(model, representation, rows)
    model.n_features_in_ = vectors.shape[1]
    context.log("represent", started, dimension=vectors.shape[1])
    return representation, vectors


def represent(model: TextClusterer, representation: Representation | None, rows: Rows) -> Vectors:
    """Return the given vectors, or those of the representation; set ``truncated_`` of the model."""
    if rows.vectors is not None:
        return rows.vectors
    if representation is None or rows.texts is None:
        raise ParameterError("this model has no representation for texts; pass vectors= as in fit.")
    vectors = representation.encode(rows.texts)
    model.truncated_ = representation.truncated
    return vectors


def save_representation(representation: Representation | None, folder: Path, kind: Any) -> dict[str, Any]:
    """Write a representation to ``folder``; return its entries for the model's ``config.json``."""
    if representation is not None:
        representation.save(folder)
    long_texts = getattr(representation, "long_texts", None)
    return {
        "encodes_texts": representation is not None and isinstance(kind, str),
        **({} if long_texts is None else {"long_texts": long_texts}),
    }


def restore_representation(
    model: TextClusterer, folder: Path, config: Mapping[str, Any], options: Mapping[str, Any]
) -> Representation | None:
    """Read what :func:`save_representation` wrote."""
    model.fitted_on_vectors_ = not config["encodes_texts"]
    if model.fitted_on_vectors_:
        return None
    settled = {"long_texts": config["long_texts"]} if "long_texts" in config else {}
    return load_representation(options["representation"], folder, {**options, **settled})
