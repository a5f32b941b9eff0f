"""From results to pages for people: tables beside the published figures, and pictures."""

from __future__ import annotations

from shoal_bench.report.write import write_pages

__all__ = ["write_pages"]
