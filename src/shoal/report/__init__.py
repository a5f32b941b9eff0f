"""What people look at: the page of a run, its map as a picture. It reads a run folder, and nothing else of a method."""

from shoal.report.contents import Contents, column_in_run, dates_of, read_places, write_places
from shoal.report.places import MAX_PLACED, place
from shoal.report.report import Report, make_report

__all__ = [
    "MAX_PLACED",
    "Contents",
    "Report",
    "column_in_run",
    "dates_of",
    "make_report",
    "place",
    "read_places",
    "write_places",
]
