"""Association rules: features as ranges, conjunctions that are frequent, and scores from the rules that match."""
