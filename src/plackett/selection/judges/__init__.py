"""Several judges of the same documents: how far they agree, and which label to keep."""
