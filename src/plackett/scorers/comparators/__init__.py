"""Comparators: learned preferences between two documents, from which an ordering method builds lists."""
