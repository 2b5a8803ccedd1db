"""Names: the catalogue, near misses, the lazy surface, optional libraries."""
