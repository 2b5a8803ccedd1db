"""Losses of single documents."""
