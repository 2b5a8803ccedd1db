"""Rankers: named algorithms as scikit-learn estimators."""
