"""The value of a ranker that was never shown, from logs of another."""
