"""The tree of clusters, and its broad themes on the map, where a run has a hierarchy."""

from __future__ import annotations

from typing import Any

from shoal.report.contents import Contents


def broad_themes(contents: Contents, labels: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the names of the broadest level for the map; none without a hierarchy."""
    return []
