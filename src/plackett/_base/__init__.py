"""What everything rests on: errors, parameters, progress, the estimator."""
