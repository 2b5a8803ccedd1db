"""Data: datasets, readers and writers, judgements, splits and normalisation."""
