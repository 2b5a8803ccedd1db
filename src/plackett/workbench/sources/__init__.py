"""What the workbench shows: an index, runs, or a dataset of features, one kind per file."""
