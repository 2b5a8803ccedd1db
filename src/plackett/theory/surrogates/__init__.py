"""Surrogate losses against measures: which bounds which, how tightly, and how surrogates follow their measures."""
