"""Texts to vectors: transformers, packaged encoders, words; tokens and the vector cache below them."""

from __future__ import annotations

from shoal.encoder.auto_encoder import AutoEncoder, VectorEncoder
from shoal.encoder.backbone import BUILTIN, builtin_folder, load_backbone
from shoal.encoder.decoder import SentenceDecoder
from shoal.encoder.last_layers import LastLayersEncoder
from shoal.encoder.latent import LatentEncoder
from shoal.encoder.masked_head import MaskedHead
from shoal.encoder.masking import Masking
from shoal.encoder.packaged import PACKAGED, TextEncoder
from shoal.encoder.representation import (
    REPRESENTATIONS,
    CachedEncoder,
    Representation,
    load_representation,
    make_representation,
)
from shoal.encoder.sif import SIF
from shoal.encoder.token_states import POOLINGS, TokenStatesEncoder
from shoal.encoder.tokens import TokenisedTexts
from shoal.encoder.transformer import LONG_TEXTS, TransformerEncoder

__all__ = [
    "BUILTIN",
    "LONG_TEXTS",
    "PACKAGED",
    "POOLINGS",
    "REPRESENTATIONS",
    "SIF",
    "AutoEncoder",
    "CachedEncoder",
    "LastLayersEncoder",
    "LatentEncoder",
    "MaskedHead",
    "Masking",
    "Representation",
    "SentenceDecoder",
    "TextEncoder",
    "TokenStatesEncoder",
    "TokenisedTexts",
    "TransformerEncoder",
    "VectorEncoder",
    "builtin_folder",
    "load_backbone",
    "load_representation",
    "make_representation",
]
