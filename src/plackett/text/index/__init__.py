"""The index: immutable segments of flat arrays, and the fields that models read."""
