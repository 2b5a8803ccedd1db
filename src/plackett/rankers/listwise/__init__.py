"""Listwise rankers."""
