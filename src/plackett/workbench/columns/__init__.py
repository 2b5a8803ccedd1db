"""Columns of the page: whatever puts documents in order for a query, one kind per file."""
