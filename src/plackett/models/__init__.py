"""Scoring models that any loss can train: linear, tree ensembles, neural networks."""
