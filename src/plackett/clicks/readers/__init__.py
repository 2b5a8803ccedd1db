"""Readers of click logs, one format per file."""
