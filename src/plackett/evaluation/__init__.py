"""How good is a ranking: evaluation, comparison, significance, risk. Needs data and measures only."""
