"""Indices into the LETOR parser's array of counters."""

from __future__ import annotations

#: Where to continue: position in the text, row, entry of a sparse matrix.
AT, ROW, ENTRY = 0, 1, 2
#: Number of values left to Python, and whether there was no room for one more.
OPEN, FULL = 3, 4
#: What is wrong (0: nothing) and where.
ERROR, POSITION = 5, 6
#: Largest feature id; whether ids were out of order in a sparse row.
MAX_ID, UNSORTED = 7, 8
#: Number of query ids, of those among them that are not plain integers; position of the first line without one, or -1.
QUERIES, NAMED, NO_QUERY = 9, 10, 11
#: Number of rows with a comment.
COMMENTS = 12

SIZE = 13
