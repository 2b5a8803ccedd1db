"""Formulas as scorers: programs and the machine that runs them."""
