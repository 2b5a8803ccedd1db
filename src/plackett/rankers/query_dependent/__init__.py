"""Query-dependent rankers: the ranking function depends on the query."""
