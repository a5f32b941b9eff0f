"""The bench: every table of the papers on one protocol."""

__version__ = "0.1.0"
