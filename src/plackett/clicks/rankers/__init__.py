"""Rankers that learn from click rates."""
