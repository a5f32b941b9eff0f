"""The result of a fit: of one that has just ended, or read from a finished run."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from shoal.clustering import Cluster
from shoal.errors import RunFolderError
from shoal.run_folder import RunFolder

UNSURE = 0.6  # a cluster of texts that are less sure than this is pointed out
# How the text column was found, where the user has several and named none.
WHY_COLUMN = {
    "only string column": "the only one that is not numbers",
    "only column of prose": "the only one that reads like prose",
    "by name": "the only one with a usual name",
}
FEW_TEXTS = 50  # fewer are clustered, but the user is told what to expect


@dataclass(frozen=True)
class FitResult:
    """The result of a fit."""

    run: Path
    method: str
    n_texts: int
    clusters: tuple[Cluster, ...]
    seconds: float
    peak_memory_mb: float | None
    dropped: dict[str, int]
    truncated: int
    notes: dict[str, Any]
    outcome: dict[str, Any]
    scores: dict[str, float] | None = None
    start_scores: dict[str, float] | None = None
    undone_scores: dict[str, float] | None = None
    report: Path | None = None
    naming: dict[str, Any] | None = None
    levels: dict[str, int] = field(default_factory=dict)
    found: str | None = None
    boilerplate: tuple[int, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return the object that ``shoal fit --json`` prints."""
        content: dict[str, Any] = {
            "run": str(self.run),
            "method": self.method,
            "n_texts": self.n_texts,
            "n_clusters": len(self.clusters),
            "levels": self.levels,
            "boilerplate": list(self.boilerplate),
            "seconds": round(self.seconds, 3),
            "peak_memory_mb": self.peak_memory_mb,
            "dropped": self.dropped,
            "truncated": self.truncated,
        }
        if self.scores is not None and self.start_scores is not None:
            content |= {"scores": self.scores, "start_scores": self.start_scores}
        if self.undone_scores is not None:
            content["undone_scores"] = self.undone_scores
        return content

    def remarks(self) -> list[str]:
        """Return what the user should know, one sentence per item."""
        remarks = self._remarks_on_clusters()
        if how := WHY_COLUMN.get(self.notes.get("text_column_chosen", "")):
            remarks.append(f"The texts are in the column {self.notes['text_column']!r}, {how}; --text takes another.")
        if self.notes.get("read_as"):
            remarks.append(self.notes["read_as"])
        if self.notes.get("long_texts") == "chunk":
            remarks.append("Texts longer than the encoder reads at once were read in chunks.")
        if self.dropped:
            what = ", ".join(f"{count} {kind.replace('_', ' ')}" for kind, count in self.dropped.items())
            remarks.append(f"Without a cluster: {what} (their rows are in the output).")
        if self.truncated:
            more = (
                "--set long_texts=chunk reads them in full"
                if self.notes.get("long_texts")
                else "a method that trains its encoder reads no chunks; --set max_length=N reads more"
            )
            remarks.append(
                f"{self.truncated} texts are longer than the encoder reads; only their beginnings were used ({more})."
            )
        if self.notes.get("encoding_guessed"):
            remarks.append(
                f"The file is not UTF-8; it was read as {self.notes['encoding']}. If texts look wrong, pass --encoding."
            )
        if self.notes.get("replaced_characters"):
            remarks.append(f"{self.notes['replaced_characters']} broken characters were replaced; see --encoding.")
        if self.notes.get("stray_quotes") or self.notes.get("quoting"):
            remarks.append("The file has unbalanced quotes; they were taken as part of the text.")
        if self.notes.get("already_finished"):
            remarks.append("It was already finished; nothing was left to do.")
        if self.notes.get("no_stages"):
            remarks.append("--stages saved nothing: nothing was trained.")
        if self.naming and self.naming["problem"]:
            named = f"{self.naming['n_named']} of {len(self.clusters)} clusters"
            remarks.append(
                f"The language model named {named}, the others have built-in names: {self.naming['problem']}."
            )
        limit = self.notes.get("memory_limit_mb")
        if limit and self.peak_memory_mb and self.peak_memory_mb > limit:
            remarks.append(f"--memory was not kept to: {self.peak_memory_mb:.0f} MB were used, {limit} were allowed.")
        if self.notes.get("no_report"):
            remarks.append(f"The report could not be written ({self.notes['no_report']}); `shoal report` tries again.")
        if self.outcome["rolled_back"]:
            reason = self.outcome["reason"]
            remarks.append(f"Training was rolled back: {reason} (--set guard=false keeps it).")
        elif self.outcome.get("reason"):
            remarks.append(f"{self.outcome['reason']}.")
        if self.outcome["stages"] and not self.outcome.get("trained", True):
            remarks.append("Nothing of the training was kept: these are the clusters of its start, k-means.")
        return [*remarks, self._how_sure()]

    def _how_sure(self) -> str:
        """Say in one sentence what was chosen and how sure it is."""
        n_sorted = sum(cluster.size for cluster in self.clusters)
        confidence = sum(cluster.size * cluster.confidence for cluster in self.clusters) / max(n_sorted, 1)
        unsure = sorted((each for each in self.clusters if each.confidence < UNSURE), key=lambda each: each.confidence)
        least = f"; least sure: {unsure[0].name} ({unsure[0].confidence:.0%})" if unsure else ""
        choice = self.outcome["choice"]
        what = "" if choice is None else f"Chosen: {choice['reason'].partition(';')[0].rstrip('.')}. "
        return f"{what}Mean confidence {confidence:.0%}{least}. Details: {self.run / 'run.json'}"

    def _remarks_on_clusters(self) -> list[str]:
        """Say how the number of clusters came about, and what to think of them."""
        remarks = []
        number = "1 cluster" if len(self.clusters) == 1 else f"{len(self.clusters)} clusters"
        if self.found is not None:
            others = [f"{name}: {each}" for name, each in self.levels.items() if name != "medium"]
            offer = f" Also on offer: {', '.join(others)} (shoal cut {self.run} --level …)." if others else ""
            remarks.append(f"{number}, found from the texts: {self.found}.{offer}")
        if self.notes.get("cut_from"):
            remarks.append(f"{number}, cut from {self.notes['cut_from']}.")
        if self.notes.get("no_level"):
            remarks.append(f"There is no level {self.notes['no_level']!r} of {number}.")
        n_fitted = self.n_texts - self.dropped.get("empty", 0)
        if n_fitted < FEW_TEXTS:
            remarks.append(
                f"{n_fitted} texts are few: each cluster rests on a handful of them, and further texts may change the "
                "number of clusters and their borders. Read them through, or give the number (--clusters)."
            )
        if self.boilerplate:
            names = ", ".join(f"{self.clusters[k].name} ({self.clusters[k].size} texts)" for k in self.boilerplate)
            remarks.append(f"Near-duplicates or boilerplate, much the same text again and again: {names}.")
        return remarks


def read_result(path: Path) -> FitResult:
    """Return the result of a finished run."""
    folder = RunFolder.open(path)
    info = folder.read_info()
    names = ("method", "n_texts", "seconds", "peak_memory_mb", "dropped", "truncated", "outcome")
    try:
        return FitResult(
            run=path,
            clusters=folder.read_clusters(),
            notes=info["data"],
            scores=info.get("scores"),
            start_scores=info.get("start_scores"),
            undone_scores=info.get("undone_scores"),
            levels=info.get("levels", {}),
            boilerplate=tuple(info.get("boilerplate", ())),
            **{name: info[name] for name in names},
        )
    except LookupError as reason:
        raise RunFolderError(f"{path} is damaged ({type(reason).__name__}: {reason}); fit again.") from reason
