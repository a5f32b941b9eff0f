"""Run folders that someone has tampered with, and sealed again: they are refused with a sentence, or do no harm."""

from __future__ import annotations

import json
import os
import random
import shutil
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load_file, save_file

from campaign.forked_shoal import NETWORK, Answer, ForkedShoal
from campaign.table import Attack
from shoal.cache import sha256_of

RUNS = Path(__file__).parents[1] / "runs_of_0.1.0.zip"
METHODS = ("tfidf-kmeans", "shoal", "sccl", "deccrl", "idec")
ODD: tuple[Any, ...] = (
    *(None, True, -1, 0, 10**7, 10**30, 1.5, float("nan"), float("inf"), "", "abc", "../../outside", "\0", "\ud800"),
    *([], {}, [[]], {"a": 1}, "x" * 10_000, "/dev/zero", "hub/model-that-is-elsewhere", "=1+1", "\x1b[2J"),
)
ENDINGS = (0, 3, 4, 5, 6, 7)


class HostileFolders:
    """Tampered runs, one after the other in the same place, next to a folder that nobody may look into."""

    def __init__(self, shoal: ForkedShoal, seed: int = 0) -> None:
        self.shoal, self.rng = shoal, random.Random(seed)
        self.base = shoal.folder / "hostile"
        self.base.mkdir(parents=True)
        self.outside = self.base / "outside"
        with zipfile.ZipFile(RUNS) as archive:
            archive.extractall(self.base / "runs")
        self.run = self.base / "run"
        self.new = self.base / "runs" / "new.csv"
        self.outside.mkdir()
        for name in METHODS[1:]:
            shutil.copytree(self.base / "runs" / name / "model", self.outside / name)
        (self.outside / "secret.json").write_text('{"secret": 1}')

    def attacks(self, count: int) -> Iterator[Attack]:
        """Tamper in ``count`` ways: every way in turn, on a run and in a place drawn at random."""
        ways = list(WAYS.items())
        for number in range(count):
            name, way = ways[number % len(ways)]
            yield self._attack(number, name, way)

    def _attack(self, number: int, name: str, way: Callable[[HostileFolders, Path], str]) -> Attack:
        method = self.rng.choice(METHODS)
        if name in _TRANSFORMER_ONLY and method == "tfidf-kmeans":
            method = "sccl"
        _delete(self.run)
        shutil.copytree(self.base / "runs" / method, self.run)
        detail = way(self, self.run)
        if not detail.startswith("unsealed"):
            _seal(self.run)
        command = self.rng.choice(
            (("predict", self.run, self.new), ("show", self.run), ("inspect", self.run, "--pairs"))
        )
        what = f"{number}: {method}, {name} ({detail}), {command[0]}"
        return Attack("hostile folders", what, judged(self.shoal(*command, forbidden=self.outside, seconds=40)))

    def some_json(self, run: Path) -> Path:
        """Return one of the JSON files."""
        return self.rng.choice(sorted(file for file in run.rglob("*.json") if file.is_file()))

    def some_weights(self, run: Path) -> Path:
        """Return one of the files of arrays."""
        return self.rng.choice(sorted(run.rglob("*.safetensors")))


def judged(answer: Answer) -> str:
    """Return what is wrong with an answer."""
    if answer.code == NETWORK:
        return "it asked for the network"
    if answer.code == -14:
        return "it took more than 40 seconds"
    if answer.code not in ENDINGS:
        return f"it ended with {answer.code}: {answer.err[-300:]}"
    if "Traceback" in answer.err or "Unexpected error" in answer.err:
        return answer.err[-300:]
    if answer.writes:
        return f"it looked outside the folder {answer.writes} times"
    return ""


def _change_json(self: HostileFolders, run: Path) -> str:
    """Put an odd value, or none, into a place of some JSON file."""
    file = self.some_json(run)
    content = json.loads(file.read_text())
    places = list(_places(content))
    if not places:
        return "nothing to change"
    parent, key = self.rng.choice(places)
    odd = self.rng.choice((*ODD, "remove"))
    if odd == "remove":
        del parent[key]
    else:
        parent[key] = odd
    file.write_text(json.dumps(content))
    return f"{file.relative_to(run)}: {key!r} = {odd!r:.60}"


def _places(content: Any) -> Iterator[tuple[Any, Any]]:
    for key in list(content if isinstance(content, dict) else range(len(content)) if isinstance(content, list) else ()):
        yield content, key
        yield from _places(content[key])


def _replace_json(self: HostileFolders, run: Path) -> str:
    file = self.some_json(run)
    texts = ("[" * 200_000, "", "null", "[]", "{}", "\0", "\ufeff{}", '{"a":' * 100_000, "9" * 5000, "NaN")
    content = self.rng.choice(texts)
    file.write_text(content)
    return f"{file.relative_to(run)} is {content[:20]!r}"


def _raw_json(self: HostileFolders, run: Path) -> str:
    file = self.some_json(run)
    raw = bytearray(file.read_bytes())
    for _ in range(self.rng.randint(1, 20)):
        raw[self.rng.randrange(len(raw))] = self.rng.randrange(256)
    file.write_bytes(raw)
    return f"bytes of {file.relative_to(run)}"


def _deep_keys(self: HostileFolders, run: Path) -> str:
    """Ask for more of everything that a transformer's config counts."""
    file = run / "model" / "0_Transformer" / "config.json"
    content = json.loads(file.read_text())
    key = self.rng.choice(
        [key for key, value in content.items() if type(value) is int] + ["num_labels", "pruned_heads"]
    )
    content[key] = self.rng.choice((10_000_000, 10**12, -1, 0, 2, "10000000", [10**7], 10**7 + 0.0))
    file.write_text(json.dumps(content))
    return f"{key}={content[key]}"


def _other_family(self: HostileFolders, run: Path) -> str:
    file = run / "model" / "0_Transformer" / "config.json"
    content = json.loads(file.read_text())
    content["model_type"] = self.rng.choice(
        ("gpt2", "t5", "llama", "timm_backbone", "none-such", "xlnet", "albert", "roberta")
    )
    content |= self.rng.choice(({}, {"auto_map": {"AutoModel": "evil.Model"}}, {"quantization_config": {"a": 1}}))
    file.write_text(json.dumps(content))
    return content["model_type"]


def _modules_elsewhere(self: HostileFolders, run: Path) -> str:
    file = run / "model" / "modules.json"
    path = self.rng.choice(
        (
            str(self.outside / "sccl" / "0_Transformer"),
            "../../outside/sccl/0_Transformer",
            "0_Transformer/../../../outside/sccl/0_Transformer",
            *("", ".", "..", "/", "0_Transformer/", None, 5, "none-such", "hub/elsewhere"),
        )
    )
    content = json.loads(file.read_text())
    content[0]["path"] = path
    file.write_text(json.dumps(content))
    return repr(path)


def _index_elsewhere(self: HostileFolders, run: Path) -> str:
    inner = run / "model" / "0_Transformer"
    names = list(load_file(inner / "model.safetensors"))
    part = self.rng.choice(
        (
            "../../../outside/sccl/0_Transformer/model.safetensors",
            str(self.outside / "sccl/0_Transformer/model.safetensors"),
        )
    )
    (inner / "model.safetensors").unlink()
    (inner / "model.safetensors.index.json").write_text(
        json.dumps({"metadata": {}, "weight_map": dict.fromkeys(names, part)})
    )
    return part


def _pickle(self: HostileFolders, run: Path) -> str:
    inner = run / "model" / "0_Transformer"
    weights = self.rng.choice(("pytorch_model.bin", "model.pt", "tf_model.h5", "training_args.bin", "model.pkl"))
    if self.rng.random() < 0.5:
        (inner / "model.safetensors").unlink()
    secret = str(self.outside / "secret.json").encode()
    (inner / weights).write_bytes(b"cbuiltins\nopen\n(V" + secret + b"\ntR.")
    return weights


def _link(self: HostileFolders, run: Path) -> str:
    """Replace a file by a link, or add one; listed or not."""
    file = self.rng.choice(sorted(file for file in run.rglob("*") if file.is_file()))
    target = self.rng.choice((self.outside / "secret.json", Path("/dev/zero"), Path("/dev/stdin"), Path("nowhere")))
    if self.rng.random() < 0.5:
        file = file.with_name("added.json")
    file.unlink(missing_ok=True)
    file.symlink_to(target)
    kind = "unsealed: " if self.rng.random() < 0.5 else ""
    return f"{kind}{file.relative_to(run)} -> {target}"


def _linked_folder(self: HostileFolders, run: Path) -> str:
    name = self.rng.choice(("model", "model/0_Transformer"))
    shutil.rmtree(run / name)
    (run / name).symlink_to(self.outside / "sccl" / name.removeprefix("model").lstrip("/"))
    return name


def _special_file(self: HostileFolders, run: Path) -> str:
    file = self.rng.choice([run / "run.json", run / "clusters.json", self.some_json(run), run / "assignments.parquet"])
    file.unlink()
    kind = self.rng.choice(("pipe", "folder", "sparse"))
    if kind == "pipe":
        os.mkfifo(file)
    elif kind == "folder":
        file.mkdir()
    else:
        with file.open("wb") as stream:
            stream.truncate(20 << 30)
    return f"unsealed: {file.relative_to(run)} is a {kind}"


def _list_of_files(self: HostileFolders, run: Path) -> str:
    info = json.loads((run / "run.json").read_text())
    name = self.rng.choice(
        ("../outside/secret.json", str(self.outside / "secret.json"), "\0", "\ud800", "", ".", "a" * 5000, "model")
    )
    info["files"][name] = "0" * 64
    (run / "run.json").write_text(json.dumps(info))
    return f"unsealed: lists {name!r:.40}"


def _arrays(self: HostileFolders, run: Path) -> str:
    """Change the shape, the kind or the content of one array."""
    file = self.some_weights(run)
    arrays = load_file(file)
    name = self.rng.choice(sorted(arrays))
    array = arrays[name]
    change = self.rng.choice(("flat", "short", "nan", "float64", "int8", "huge", "none", "more", "scalar"))
    arrays[name] = {
        "flat": lambda: array.reshape(-1),
        "short": lambda: array[: len(array) // 2],
        "nan": lambda: np.full_like(array, np.nan) if array.dtype.kind == "f" else np.full_like(array, -1),
        "float64": lambda: array.astype(np.float64),
        "int8": lambda: np.nan_to_num(array).astype(np.int8),
        "huge": lambda: (np.ones_like(array) * 3e38).astype(array.dtype) if array.dtype.kind == "f" else array + 99,
        "none": lambda: array,
        "more": lambda: np.concatenate([array, array]),
        "scalar": lambda: np.array(1.0, np.float32),
    }[change]()
    if change == "none":
        del arrays[name]
    save_file({key: np.ascontiguousarray(value) for key, value in arrays.items()}, file)
    return f"{file.relative_to(run)}: {name} {change}"


def _raw_weights(self: HostileFolders, run: Path) -> str:
    file = self.rng.choice([self.some_weights(run), run / "assignments.parquet"])
    raw = bytearray(file.read_bytes())
    kind = self.rng.choice(("cut", "bytes", "header", "empty"))
    if kind == "cut":
        raw = raw[: self.rng.randrange(len(raw))]
    elif kind == "bytes":
        for _ in range(30):
            raw[self.rng.randrange(len(raw))] = self.rng.randrange(256)
    elif kind == "header":
        raw[:8] = (2 ** self.rng.randint(20, 63)).to_bytes(8, "little")
    else:
        raw = bytearray()
    file.write_bytes(raw)
    return f"{file.relative_to(run)}: {kind}"


def _tokenizer_elsewhere(self: HostileFolders, run: Path) -> str:
    file = run / "model" / "0_Transformer" / "tokenizer_config.json"
    content = json.loads(file.read_text())
    key = self.rng.choice(
        ("vocab_file", "tokenizer_file", "merges_file", "auto_map", "tokenizer_class", "_name_or_path")
    )
    content[key] = self.rng.choice((str(self.outside / "secret.json"), "../../../outside/secret.json"))
    file.write_text(json.dumps(content))
    return key


def _other_backbone(self: HostileFolders, run: Path) -> str:
    """Let the config name another backbone, which only ``inspect`` would want."""
    file = run / "model" / "config.json"
    content = json.loads(file.read_text())
    content["params"]["backbone"] = self.rng.choice(
        ("hub/elsewhere", str(self.outside / "sccl"), "bert-base-uncased", None)
    )
    file.write_text(json.dumps(content))
    return str(content["params"]["backbone"])


def _adapter(self: HostileFolders, run: Path) -> str:
    content = {
        "base_model_name_or_path": self.rng.choice((str(self.outside / "sccl"), "hub/elsewhere")),
        "peft_type": "LORA",
    }
    (run / "model" / "0_Transformer" / "adapter_config.json").write_text(json.dumps(content))
    return content["base_model_name_or_path"]


def _lost(self: HostileFolders, run: Path) -> str:
    file = self.rng.choice(sorted(file for file in run.rglob("*") if file.is_file() and file.name != "run.json"))
    file.unlink()
    return f"lost {file.relative_to(run)}"


WAYS: dict[str, Callable[[HostileFolders, Path], str]] = {
    "a value of JSON": _change_json,
    "modules elsewhere": _modules_elsewhere,
    "arrays": _arrays,
    "JSON replaced": _replace_json,
    "index elsewhere": _index_elsewhere,
    "link": _link,
    "another value of JSON": _change_json,
    "a pickle": _pickle,
    "config counts": _deep_keys,
    "other arrays": _arrays,
    "special file": _special_file,
    "list of files": _list_of_files,
    "raw weights": _raw_weights,
    "tokenizer elsewhere": _tokenizer_elsewhere,
    "other backbone": _other_backbone,
    "adapter": _adapter,
    "linked folder": _linked_folder,
    "other family": _other_family,
    "raw JSON": _raw_json,
    "lost file": _lost,
}
_TRANSFORMER_ONLY = {
    *("modules elsewhere", "index elsewhere", "a pickle", "config counts", "tokenizer elsewhere", "adapter"),
    *("linked folder", "other family"),
}


def _seal(run: Path) -> None:
    """Write the checksums that fit, as anyone could."""
    try:
        info = json.loads((run / "run.json").read_text())
        sums = {}
        for file in run.rglob("*"):
            if file != run / "run.json" and (file.is_file() or file.is_symlink()):
                plain = not file.is_symlink() or file.resolve().is_file()
                sums[file.relative_to(run).as_posix()] = sha256_of(file) if plain else "0" * 64
        info["files"] = sums
        (run / "run.json").write_text(json.dumps(info))
    except (ValueError, TypeError, OSError, RecursionError):
        pass  # run.json itself was the one tampered with


def _delete(path: Path) -> None:
    if path.is_symlink() or path.is_file():
        path.unlink()
    elif path.exists():
        shutil.rmtree(path)
