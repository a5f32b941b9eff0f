"""How a fit reads its texts: their languages, and the encoder that can read them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from shoal.encoder.backbone import BUILTIN, LAYERED
from shoal.encoder.packaged import BACKBONES, MULTILINGUAL, is_installed, multilingual_backbone
from shoal.errors import MissingExtraError, ParameterError
from shoal.methods.inputs import Rows
from shoal.progress import announce
from shoal.text.languages import NAMES, Languages, find_languages

AUTO = "auto"
# The built-in encoder reads English. A smaller share of other texts is said, a larger one needs another encoder.
MOST_FOREIGN = 0.2
SAID_FOREIGN = 0.05
# A packaged encoder may also be named as a representation.
_NAMES = {representation: name for name, representation in BACKBONES.items()}
READERS = "shoal, kmeans, two-stage, dec, idec, dcn and ae-kmeans"


@dataclass(frozen=True)
class Reading:
    """How the texts of a fit are read.

    Attributes
    ----------
    backbone : str
        The encoder that was chosen, or was named.
    languages : Languages, optional
        The languages of the texts; None if there are only vectors.
    free : bool
        Whether meaning is freed from language: the texts are in several, and their language was not to be kept.
    """

    backbone: str = BUILTIN
    languages: Languages | None = None
    free: bool = False

    @property
    def options(self) -> dict[str, Any]:
        """What a representation needs to know."""
        return {"backbone": self.backbone, "languages": self.languages if self.free else None}

    @property
    def mixed(self) -> bool:
        """Whether the texts are in several languages."""
        return self.languages is not None and self.languages.mixed

    @property
    def sentence(self) -> str:
        """One line for the user; empty for English texts that the built-in encoder reads."""
        if self.languages is None or (self.languages.foreign < SAID_FOREIGN and self.backbone == BUILTIN):
            return ""
        doubt = ""
        if self.backbone == BUILTIN:
            doubt = f", which was made for English ({self.languages.foreign:.0%} are not)"
        freed = "; grouped by meaning, not by language (keep_language=True keeps the language)" if self.free else ""
        known = f"{self.backbone} (multilingual)" if self.backbone in ("use", "e5") else self.backbone
        return f"Languages: {self.languages}. Encoder: {known}{doubt}{freed}."

    def as_dict(self) -> dict[str, Any]:
        """Return plain values."""
        shares = None if self.languages is None else dict(self.languages.shares)
        return {"backbone": self.backbone, "languages": shares, "free": self.free}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any] | None, backbone: str) -> Reading:
        """Undo :meth:`as_dict`; a model of before has no more than its parameter ``backbone``."""
        if content is None:
            return cls(backbone)
        shares = content["languages"]
        return cls(str(content["backbone"]), None if shares is None else Languages(shares), bool(content["free"]))


def plan_reading(rows: Rows, params: Mapping[str, Any], *, encodes: bool = True, trains: bool = False) -> Reading:
    """Find the languages of the texts and the encoder for them, and say so.

    Parameters
    ----------
    rows : Rows
        The texts; with vectors, no encoder is needed.
    params : mapping
        The parameters of the method: ``backbone``, ``representation`` and ``keep_language``, as far as it has them.
    encodes : bool, default=True
        Whether the texts will be encoded at all.
    trains : bool, default=False
        Whether the method trains its encoder.

    Raises
    ------
    MissingExtraError
        If the built-in encoder cannot read the texts and no other is installed.
    ParameterError
        If the method would have to train an encoder that cannot be trained.
    """
    kind = params.get("representation")
    wanted = str(_NAMES[kind] if isinstance(kind, str) and kind in _NAMES else params.get("backbone", AUTO))
    if trains and wanted in (*BACKBONES, MULTILINGUAL):
        raise ParameterError(f"backbone={wanted!r} is frozen: {_trainable()}")
    if rows.texts is None:
        return Reading(BUILTIN if wanted == AUTO else wanted)
    languages = find_languages(rows.texts)
    if wanted == AUTO and rows.vectors is None and encodes:
        backbone = _chosen(languages, trains)
    elif wanted == MULTILINGUAL:
        backbone = multilingual_backbone(languages.shares)
    else:
        backbone = BUILTIN if wanted == AUTO else wanted
    free = languages.mixed and not params.get("keep_language", True) and rows.vectors is None
    reading = Reading(backbone, languages, free)
    if reading.sentence:
        announce(reading.sentence)
    return reading


def _chosen(languages: Languages, trains: bool) -> str:
    """Return the encoder for these languages: the built-in one for English."""
    if languages.foreign <= MOST_FOREIGN:
        return BUILTIN
    others = ", ".join(NAMES.get(code, code) for code in languages.codes if code != "en")
    found = (
        f"{languages.foreign:.0%} of the texts are not in English ({others}), which is all that the built-in encoder "
    )
    if trains:
        raise ParameterError(f"{found}was made for: {_trainable()}")
    best = multilingual_backbone(languages.shares)
    if not is_installed(best):
        raise MissingExtraError(
            f"{found}was made for: backbone='auto'",
            "multilingual",
            ", which reads a hundred languages, or pass backbone='builtin' to use the English encoder all the same.",
        )
    return best


def _trainable() -> str:
    """Say which backbones can be trained."""
    return (
        "this method trains its encoder. Pass backbone='builtin' (English), or the folder or hub name of a transformer "
        f"that reads the texts ({', '.join(LAYERED)}); frozen encoders serve {READERS} with backbone='multilingual'."
    )
