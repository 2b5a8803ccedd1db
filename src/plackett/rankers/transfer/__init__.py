"""Transfer rankers: learning from judgements of another domain."""
