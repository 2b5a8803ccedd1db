"""Sets of rules as scorers."""
