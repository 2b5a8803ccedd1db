"""Pointwise rankers."""
