"""The bench: every table of the papers on one protocol."""
