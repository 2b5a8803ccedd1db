"""Experiments: evaluation, comparison, significance, protocols."""
