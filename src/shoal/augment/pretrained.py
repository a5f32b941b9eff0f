"""Loading models by hub name or folder, for the augmenters that need one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from transformers import AutoTokenizer

from shoal.errors import MissingExtraError, ModelError


def load_pretrained(auto_class: Any, name: str | Path) -> tuple[Any, Any]:
    """Load a model and its tokenizer, in evaluation mode.

    Parameters
    ----------
    auto_class : type
        A transformers auto class such as ``AutoModelForMaskedLM``.
    name : str or Path
        Hub name or folder.

    Returns
    -------
    model, tokenizer

    Raises
    ------
    ModelError
        If it cannot be found or read, or has no head for the task.
    """
    task = auto_class.__name__.removeprefix("AutoModelFor")
    try:
        model, info = auto_class.from_pretrained(name, output_loading_info=True)
        tokenizer = AutoTokenizer.from_pretrained(name)
    except ImportError as error:  # Marian's tokenizer asks for sentencepiece
        raise MissingExtraError(f"The tokenizer of {str(name)!r}", "translate") from error
    except (OSError, ValueError, KeyError) as error:
        raise ModelError(
            f"{str(name)!r} cannot be loaded for {task} ({str(error).splitlines()[0]}); "
            "pass a hub name that this machine can reach, or a folder with config, weights and tokenizer; offline, "
            "augmentation='neighbour' and the presets paper-offline need no such model."
        ) from error
    if info["missing_keys"]:
        raise ModelError(
            f"{str(name)!r} has no trained head for {task} (missing: {min(info['missing_keys'])}, …); "
            f"pass a model that was trained for {task}."
        )
    device = "cuda" if torch.cuda.is_available() else "cpu"
    return model.eval().to(device), tokenizer


def pretrained_identity(name: str | Path) -> str:
    """Return a string that identifies a model, without loading it.

    Parameters
    ----------
    name : str or Path
        Hub name or folder.

    Returns
    -------
    str
        The hub name; for a folder, its files with their sizes and times of change.

    Examples
    --------
    >>> pretrained_identity("bert-base-uncased")
    'bert-base-uncased'
    """
    if not Path(name).is_dir():
        return str(name)
    files = sorted(path for path in Path(name).iterdir() if path.is_file())
    return " ".join(f"{path.name}:{path.stat().st_size}:{path.stat().st_mtime_ns}" for path in files)
