"""Whether the minimiser of a loss is the best ranking: verdicts by computation, conditions, and known results."""
