"""Risks: a loss, a framework (document, subset, two-layer) and a view (U-statistic, average, sub-list)."""
