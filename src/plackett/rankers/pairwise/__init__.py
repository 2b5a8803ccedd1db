"""Pairwise rankers."""
