"""The cells of an experiment: one ranker in one fold of one dataset, computed, kept and resumed."""
