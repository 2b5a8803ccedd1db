"""Generalisation bounds, one per file: how far the risk on unseen data may be from the one that was measured."""
