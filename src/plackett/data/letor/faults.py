"""Error codes for a line of LETOR text; `errors` has the messages."""

from __future__ import annotations

LABEL, LABEL_MISSING, LABEL_INFINITE, LABEL_LONG = 1, 2, 3, 4
QID_EMPTY, QID_LONG, QID_BYTE = 5, 6, 7
QID_UTF8, NO_QUERY, QUERY_AGAIN = 17, 18, 19
TOKEN, ID_ZERO, ID_NEGATIVE, ID_LARGE, ID_BEYOND, ID_TWICE = 8, 9, 10, 11, 12, 13
VALUE, VALUE_INFINITE, VALUE_LONG = 14, 15, 16
