"""Features of query–document pairs: declared in a list, computed from an index in one pass."""
