"""Readers of documents, one format per file."""
