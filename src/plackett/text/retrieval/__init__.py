"""Conventional ranking models over an index, one per file: each ranks documents and is a feature."""
