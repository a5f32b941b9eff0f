"""The result of a fit: of one that has just ended, or read from a finished run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shoal.clustering import Cluster
from shoal.errors import RunFolderError
from shoal.run_folder import RunFolder


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
    report: Path | None = None
    naming: dict[str, Any] | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the object that ``shoal fit --json`` prints."""
        content: dict[str, Any] = {
            "run": str(self.run),
            "method": self.method,
            "n_texts": self.n_texts,
            "n_clusters": len(self.clusters),
            "seconds": round(self.seconds, 3),
            "peak_memory_mb": self.peak_memory_mb,
            "dropped": self.dropped,
            "truncated": self.truncated,
        }
        if self.scores is not None and self.start_scores is not None:
            content |= {"scores": self.scores, "start_scores": self.start_scores}
        return content

    def remarks(self) -> list[str]:
        """Return what the user should know, one sentence per item."""
        remarks = []
        if self.dropped:
            what = ", ".join(f"{count} {kind.replace('_', ' ')}" for kind, count in self.dropped.items())
            remarks.append(f"Without a cluster: {what} (their rows are in the output).")
        if self.truncated:
            remarks.append(
                f"{self.truncated} texts are longer than the encoder reads; only their beginnings were used "
                "(--set long_texts=chunk reads them in full)."
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
        if self.notes.get("no_report"):
            remarks.append(f"The report could not be written ({self.notes['no_report']}); `shoal report` tries again.")
        memory = "" if self.peak_memory_mb is None else f", {self.peak_memory_mb:.0f} MB peak memory"
        if self.outcome["rolled_back"]:
            remarks.append(f"Training made things worse and was rolled back: {self.outcome['reason']}.")
        elif self.outcome["choice"] is not None:
            remarks.append(f"Chosen: {self.outcome['choice']['reason']}")
        remarks.append(f"{self.seconds:.1f} s{memory}.")
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
            **{name: info[name] for name in names},
        )
    except LookupError as reason:
        raise RunFolderError(f"{path} is damaged ({type(reason).__name__}: {reason}); fit again.") from reason
