"""Files: atomic writing, locks, compression, the storage layout, checks of whatever is mapped."""
