"""Losses of whole lists."""
