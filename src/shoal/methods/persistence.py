"""A model on disk: JSON and safetensors, never a pickle.

::

    model/
      config.json          format, version, method class, parameters, names of the clusters
      heads.safetensors    the clusterer's and the reducer's arrays
      refined/             the classifier that refines the clusters, if any
      …                    the files of the representation; a transformer's folder opens in sentence-transformers
"""

from __future__ import annotations

import json
import stat
from collections.abc import Collection
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load_file, save_file

from shoal._version import __version__
from shoal.clusterers import Centroids, Clusterer, Heads, Linkage, Mixture, Neighbours, Projection, State, StudentT
from shoal.clustering import Cluster
from shoal.confined import read_json
from shoal.encoder.backbone import BUILTIN
from shoal.encoder.saved_folder import check_saved_model
from shoal.errors import MissingExtraError, ParameterError, RunFolderError
from shoal.methods import find_class
from shoal.methods.base import TextClusterer
from shoal.methods.calibration import Calibration
from shoal.methods.context import outcome_of
from shoal.methods.granularity import cut_model
from shoal.methods.reading import Reading
from shoal.methods.refining import FOLDER as REFINED
from shoal.methods.refining import Refined
from shoal.n_clusters import Hierarchy, NClusters
from shoal.parameters import parameters_of
from shoal.run_folder import MODEL, RunFolder, check_version

FORMAT, FORMAT_VERSION = "shoal-model", 1
CLUSTERERS: dict[str, type[Clusterer]] = {kind.kind: kind for kind in (Centroids, Mixture, Linkage, StudentT, Heads)}
REDUCERS = {kind.kind: kind for kind in (Projection, Neighbours)}
# More columns than any vocabulary has; beyond it one row would fill the memory.
MOST_FEATURES = 10_000_000
_CONFIG, _HEADS = "config.json", "heads.safetensors"
_LABELS = "labels"


def save_model(model: TextClusterer, folder: Path) -> None:
    """Write a fitted model to ``folder``, which must be new or empty."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise RunFolderError(f"{folder} is a file or not empty; pass a new folder.")
    folder.mkdir(parents=True, exist_ok=True)
    reducer = model.reducer_
    config = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "shoal_version": __version__,
        "class": type(model).__name__,
        "params": _json_params(model),
        "clusterer": model.clusterer_.kind,
        "reducer": reducer.kind if reducer is not None else None,
        "own_clusters": model.own_clusters_,
        "reading": model.reading_.as_dict(),
        "n_features_in": int(model.n_features_in_),
        **asdict(model.calibration_),
        "level": model.level_,
        "n_clusters_choice": model.n_clusters_choice_.as_dict(),
        "clusters": [cluster.as_json() for cluster in (model.uncut_ or model).clusters_],
        "level_clusters": [cluster.as_json() for cluster in model.clusters_] if model.uncut_ else None,
        **model._save(folder),
    }
    arrays = {f"clusterer.{name}": array for name, array in model.clusterer_.state().items()}
    if reducer is not None:
        arrays |= {f"reducer.{name}": array for name, array in reducer.state().items()}
    if hasattr(model, "labels_"):  # a model that was itself loaded from an older folder has none
        arrays[_LABELS] = model.labels_.astype(np.int32)
    if model.hierarchy_ is not None:
        arrays |= {f"hierarchy.{name}": array for name, array in model.hierarchy_.state().items()}
    save_file({name: np.ascontiguousarray(array) for name, array in arrays.items()}, folder / _HEADS)
    if model.refined_ is not None:
        model.refined_.save(folder / REFINED)
    text = json.dumps(config, indent=2, ensure_ascii=False)
    (folder / _CONFIG).write_text(text + "\n", encoding="utf-8")
    _share(folder, like=folder / _CONFIG)


def load(path: str | Path) -> TextClusterer:
    """Read a model from a run folder, or from the folder that ``save`` wrote.

    Parameters
    ----------
    path : str or Path
        The folder.

    Returns
    -------
    TextClusterer
        Ready to ``predict``, with the ``labels_`` of the fitted texts; their probabilities are in the run's table.

    Raises
    ------
    RunFolderError
        If the folder is missing, damaged, not a Shoal model, of another format version, or holds or names anything but
        its own regular files. Nothing is read from elsewhere or from the network.
    """
    folder = Path(path)
    if (folder / MODEL).is_dir() or not folder.is_dir():
        folder = RunFolder.open(folder).model
    check_saved_model(folder)
    config = _read_config(folder)
    try:
        model = _restored(folder, config)
        _try_out(model)
    except (RunFolderError, MissingExtraError):
        raise
    except BaseException as reason:
        # Damage shows in any way, down to a panic of the tokenizers, which is no Exception.
        if not isinstance(reason, Exception) and type(reason).__name__ != "PanicException":
            raise
        text = str(reason).partition("\n")[0]
        raise RunFolderError(f"{folder} is damaged ({type(reason).__name__}: {text}); fit the model again.") from reason
    model.truncated_ = 0  # of the fit, not of the row it was tried out on
    return model


def _clusterer_class(kind: str) -> type[Clusterer]:
    """Return the class of a clusterer; IDEC's, which needs torch, is imported only for its own models."""
    if kind in CLUSTERERS:
        return CLUSTERERS[kind]
    from shoal.methods.idec_clusterer import LatentClusters

    return {LatentClusters.kind: LatentClusters}[kind]


def _restored(folder: Path, config: dict[str, Any]) -> TextClusterer:
    """Read the parts of a model."""
    method = find_class(config["class"])
    model = method(**_present_names(dict(config["params"]), parameters_of(method)))
    arrays = load_file(folder / _HEADS)
    broken = [name for name, array in arrays.items() if array.dtype.kind == "f" and not np.isfinite(array).all()]
    if broken:
        raise ValueError(f"{broken[0]} has NaN or infinity")
    model.clusterer_ = _clusterer_class(config["clusterer"]).from_state(_part(arrays, "clusterer."))
    reducer = config["reducer"]
    model.reducer_ = None if reducer is None else REDUCERS[reducer].from_state(_part(arrays, "reducer."))
    model.own_clusters_ = bool(config.get("own_clusters", True))
    model.refined_ = Refined.load(folder / REFINED) if (folder / REFINED).is_dir() else None
    model.clusters_ = tuple(Cluster.from_json(cluster) for cluster in config["clusters"])
    model.n_features_in_ = config["n_features_in"]
    model.outcome_ = outcome_of()
    model.reading_ = Reading.from_dict(config.get("reading"), str(getattr(model, "backbone", BUILTIN)))
    model._restore(folder, config)
    model.cluster_centers_ = model.clusterer_.centers
    model.n_clusters_ = len(model.cluster_centers_)
    model.calibration_ = Calibration(float(config.get("temperature", 1.0)), float(config.get("doubt", 0.0)))
    tree = _part(arrays, "hierarchy.")
    model.hierarchy_ = Hierarchy.from_state(tree) if tree else None
    if model.hierarchy_ is not None and model.hierarchy_.n_clusters != model.n_clusters_:
        raise ValueError(f"a tree of {model.hierarchy_.n_clusters} clusters for {model.n_clusters_}")
    model.n_clusters_choice_ = NClusters.from_dict(config.get("n_clusters_choice"), model.n_clusters_)
    model.level_, model.uncut_, model.history_, model.truncated_ = None, None, [], 0
    if config.get("level") is not None:
        model = cut_model(model, int(config["level"]))
        model.clusters_ = tuple(Cluster.from_json(cluster) for cluster in config["level_clusters"])
    if _LABELS in arrays:
        model.labels_ = arrays[_LABELS].astype(np.int64)
        if model.labels_.ndim != 1 or not -1 <= model.labels_.min() <= model.labels_.max() < model.n_clusters_:
            raise ValueError(f"labels beyond {model.n_clusters_} clusters")
    return model


def _try_out(model: TextClusterer) -> None:
    """Sort one row, so that parts that do not fit together are noticed now, and not in the middle of a table."""
    if len(model.clusters_) != model.n_clusters_ or [cluster.id for cluster in model.clusters_] != [
        *range(model.n_clusters_)
    ]:
        raise ValueError(f"{len(model.clusters_)} names for {model.n_clusters_} clusters")
    if type(model.n_features_in_) is not int or not 1 <= model.n_features_in_ <= MOST_FEATURES:
        raise ValueError(f"n_features_in={model.n_features_in_!r}")
    vectors = np.zeros((1, model.n_features_in_), np.float32) if model.fitted_on_vectors_ else None
    found = model.predict_clustering(["a text"], vectors=vectors)
    if found.probabilities.shape != (1, model.n_clusters_) or not np.isfinite(found.probabilities).all():
        raise ValueError(f"probabilities of shape {found.probabilities.shape} for {model.n_clusters_} clusters")


def _read_config(folder: Path) -> dict[str, Any]:
    """Read ``config.json``; reject folders that are not Shoal models and other format versions."""
    try:
        config = read_json(folder / _CONFIG)
    except OSError as reason:
        raise RunFolderError(f"{folder} holds no Shoal model (no {_CONFIG}); pass a run folder.") from reason
    if not isinstance(config, dict) or config.get("format") != FORMAT:
        raise RunFolderError(f"{folder} is not a Shoal model; pass a run folder that `shoal fit` wrote.")
    check_version(folder, config.get("format_version"), FORMAT_VERSION)
    return config


def _present_names(params: dict[str, Any], known: Collection[str]) -> dict[str, Any]:
    """Translate ``assign`` of older models, which once named the ending of three methods."""
    *reducer, assign = str(params.get("assign", "")).split("+")
    if reducer or assign == "idec":
        params = {**params, "assign": "kmeans", "reducer": "umap" if reducer else "none", "clusterer": assign}
    return {name: value for name, value in params.items() if name != "assign" or name in known}


def _json_params(model: TextClusterer) -> dict[str, Any]:
    """Return the parameters as JSON values."""
    params: dict[str, Any] = {}
    for name, value in model.get_params(deep=False).items():
        if isinstance(value, np.integer | np.floating):
            value = value.item()
        elif isinstance(value, np.random.RandomState) or (name == "representation" and not isinstance(value, str)):
            value = None  # a user's own object: the saved model takes vectors only
        try:
            json.dumps(value)
        except TypeError as reason:
            raise ParameterError(f"{name}={value!r} cannot be saved; use plain numbers, strings and lists.") from reason
        params[name] = value
    return params


def _share(folder: Path, like: Path) -> None:
    """Give every file the permissions of ``like``: safetensors makes its files for their owner only."""
    mode = stat.S_IMODE(like.stat().st_mode)
    for file in folder.rglob("*"):
        if file.is_file():
            file.chmod(mode)


def _part(arrays: State, prefix: str) -> State:
    """Return the arrays whose names start with ``prefix``, which is removed."""
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
