"""Trees: models that any loss can train."""
