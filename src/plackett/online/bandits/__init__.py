"""Bandits that learn an order of known documents, or of documents with features, from clicks."""
