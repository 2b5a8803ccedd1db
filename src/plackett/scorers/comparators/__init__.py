"""Comparators: what was learned about two documents, from which an ordering method makes lists."""
