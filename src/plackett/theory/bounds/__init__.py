"""Bounds: of the risk of rankers on new data, and of errors by losses and by rounds of boosting."""
