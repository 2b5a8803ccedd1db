"""Semi-supervised rankers: learning from documents without labels as well."""
