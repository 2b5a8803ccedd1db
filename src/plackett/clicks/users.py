"""Hashed user ids, which tell users apart without saying who they are."""

from __future__ import annotations

import hashlib
import secrets
from typing import Any

import numpy as np

from plackett.clicks._codes import codes
from plackett.data.grouping import as_given, is_missing

__all__ = ["hash_users"]

#: The key for logs that are read without one: two runs of the program cannot link the same user.
_RUN_KEY = secrets.token_bytes(32)
#: Ids that are converted to Python strings at a time.
_AT_ONCE = 1 << 16


def hash_users(ids: Any, key: bytes | str | None = None) -> np.ndarray:
    """Keyed hashes of user ids, uint64; missing ids (None, NaN, empty text) become 0.

    The same id and key give the same hash in every log. Nobody without the key can tell whose hash it is; keep it as
    you keep a password. BLAKE2b with 64 bits: among 10 million users, the chance that any two share a hash is 3 in
    a million.

    Parameters
    ----------
    key
        1 to 64 bytes, or a text. None draws one per process: users are told apart inside this run only.

    Examples
    --------
    >>> hash_users(["ann", "bob", "ann", ""], "secret").tolist()
    [18405106396325198312, 2530734116038682925, 18405106396325198312, 0]
    """
    secret = _RUN_KEY if key is None else key.encode() if isinstance(key, str) else key
    if not 1 <= len(secret) <= 64:
        raise ValueError(f"the key has {len(secret)} bytes; give 1 to 64")
    array = as_given(ids)
    if array.dtype == object:
        texts = ["" if is_missing(value) else str(value) for value in array]
        array = np.array(texts, np.dtypes.StringDType())
    elif array.dtype.kind == "f" and np.isnan(array).any():  # whole numbers of a column with gaps
        known = ~np.isnan(array)
        hashes = np.zeros(array.size, np.uint64)
        hashes[known] = hash_users(array[known], secret)
        return hashes
    code, known = codes(array, "users", blank=True)
    hashes = np.zeros(known.size, np.uint64)
    for start in range(0, known.size, _AT_ONCE):  # a list of ten million texts takes more than a gigabyte
        for i, text in enumerate(known[start : start + _AT_ONCE].tolist(), start):
            if text != "":
                digest = hashlib.blake2b(str(text).encode(), key=secret, digest_size=8).digest()
                hashes[i] = max(int.from_bytes(digest, "little"), 1)
    return hashes[code]
