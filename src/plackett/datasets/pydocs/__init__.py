"""The documentation of Python's standard library as a collection to search: on every machine, without a download."""
