"""Relations made from what a dataset holds: its features, other vectors, groups of documents."""
