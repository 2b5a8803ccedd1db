"""Experiments: protocol, tuning, cells and resuming, the report."""
