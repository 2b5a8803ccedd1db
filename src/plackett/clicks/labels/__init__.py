"""Labels and preferences out of clicks, one method per file."""
