"""Query-dependent rankers: not one function for all queries."""
