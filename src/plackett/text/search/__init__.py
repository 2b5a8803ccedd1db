"""Queries, filters, the best documents, and snippets."""
