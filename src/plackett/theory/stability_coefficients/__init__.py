"""How much a learned function can change when one query or document of its training data does: what is proved."""
