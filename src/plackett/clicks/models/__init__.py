"""Click models, one per file."""
