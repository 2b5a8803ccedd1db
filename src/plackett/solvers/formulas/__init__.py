"""Formulas of features: programs, the machine that runs them, their text, and evolution."""
