"""A transformer in a saved model, checked before transformers reads it: it may come from someone else.

transformers follows every path that its files name, builds as many layers as they ask for, and unpickles old weights. A
folder that passes these checks names nothing outside itself, and asks for no more than its weights hold.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from shoal.confined import other_entries, read_json, regular_files
from shoal.errors import RunFolderError

# Weights as safetensors, vocabularies as text or sentencepiece; nothing that could hold a pickle or a program.
SUFFIXES = (".json", ".safetensors", ".txt", ".model", ".jinja")
# Numbers of a config that are not sizes or counts of weights.
_FREE = ("position", "length", "theta", "_id", "_ids", "seed")
_SMALL = 4096


def check_saved_model(folder: Path) -> None:
    """Refuse a model's folder that holds or names anything but its own plain files.

    Raises
    ------
    RunFolderError
        With the file and what is wrong with it.
    """
    links = other_entries(folder)
    if links:
        raise _refused(folder / links[0], "is not a regular file")
    files = {name: size for name, size in regular_files(folder).items() if not PurePosixPath(name).name.startswith(".")}
    for name in files:
        if not name.endswith(SUFFIXES):
            raise _refused(folder / name, f"is none of {' '.join(SUFFIXES)}, the only kinds of file in a model")
        if PurePosixPath(name).name == "adapter_config.json":
            raise _refused(folder / name, "would load another model")
        if name.endswith(".safetensors.index.json"):
            _check_index(folder, name, files)
        if PurePosixPath(name).name in ("tokenizer_config.json", "special_tokens_map.json"):
            _check_tokenizer(folder / name)
    if "modules.json" in files:
        _check_modules(folder, files)


def _check_modules(folder: Path, files: dict[str, int]) -> None:
    """Check that the modules are folders in here, and that the transformer is as large as its weights."""
    listed = read_json(folder / "modules.json")
    paths = [module.get("path") if isinstance(module, dict) else None for module in _as_list(listed)]
    for path in paths:
        if not isinstance(path, str) or not _is_plain(path):
            raise _refused(folder / "modules.json", f"names the path {path!r}, which is not a folder in the model")
    if not paths:
        raise _refused(folder / "modules.json", "lists no modules")
    config = f"{paths[0]}/config.json"
    if config not in files:
        raise _refused(folder / config, "is missing")
    _check_sizes(folder / config)


def _check_index(folder: Path, name: str, files: dict[str, int]) -> None:
    """Check that the parts of divided weights are files next to their index."""
    content = read_json(folder / name)
    parts = content.get("weight_map") if isinstance(content, dict) else None
    for part in set(map(str, parts.values())) if isinstance(parts, dict) else {""}:
        if not _is_plain(part) or str(PurePosixPath(name).parent / part) not in files:
            raise _refused(folder / name, f"names the weights {part!r}, which are not in the model")


def _check_tokenizer(file: Path) -> None:
    """Check that a tokenizer names no files: its own have fixed names, and are found without."""
    content = read_json(file)
    for key, value in content.items() if isinstance(content, dict) else ():
        if key.endswith(("_file", "_files", "_spm")) and key != "special_tokens_map_file" and value is not None:
            raise _refused(file, f"names the file {value!r}")


def _check_sizes(config: Path) -> None:
    """Check that no number of the config is beyond what the weights hold: a million layers take a minute to build."""
    from safetensors import SafetensorError, safe_open

    counts, dimensions = 0, [0]
    for file in config.parent.glob("*.safetensors"):
        try:
            with safe_open(file, framework="numpy") as weights:
                shapes = [weights.get_slice(name).get_shape() for name in weights.keys()]  # noqa: SIM118
        except (SafetensorError, OSError, ValueError) as reason:
            raise _refused(file, f"cannot be read ({reason})") from reason
        counts += len(shapes)
        dimensions += [size for shape in shapes for size in shape]
    for key, number in _numbers(read_json(config)):
        most = counts if "layer" in key else max(_SMALL, counts, *dimensions)
        if not any(part in key for part in _FREE) and number > most:
            raise _refused(config, f"has {key}={number}, but the weights have only {counts} parts, up to {most} wide")


def _numbers(content: Any, key: str = "") -> Iterator[tuple[str, int]]:
    """Yield the whole numbers of a config with their keys."""
    if isinstance(content, dict):
        for name, value in content.items():
            yield from _numbers(value, str(name))
    elif isinstance(content, list):
        for value in content:
            yield from _numbers(value, key)
    elif isinstance(content, int) and not isinstance(content, bool):
        yield key, content


def _is_plain(path: str) -> bool:
    """Tell whether a path is one visible name."""
    return path not in ("", ".", "..") and not path.startswith(".") and not {"/", "\\", "\0"} & set(path)


def _as_list(content: Any) -> list[Any]:
    return content if isinstance(content, list) else []


def _refused(file: Path, why: str) -> RunFolderError:
    """Return the error for a file that is not accepted."""
    return RunFolderError(f"{file} {why}; the model is refused: fit again, or get it from someone you trust.")
