"""Losses of pairs of documents."""
