"""A process that works on one shard for a worker of a cluster: ``python -m plackett.cluster.child ORDER ANSWER``."""

from __future__ import annotations

import os
import pickle
import sys
import threading
from pathlib import Path

from plackett._base.errors import ClusterError
from plackett.cluster.shards import open_shard


def main(order: str, answer: str) -> None:
    """Read what to do from one file and write the result, or the error, to another."""
    threading.Thread(target=_end_with_the_parent, daemon=True).start()
    path, function, argument = pickle.loads(Path(order).read_bytes())
    try:
        pickled = pickle.dumps((True, function(open_shard(Path(path)), argument)), protocol=5)
    except Exception as error:
        try:
            pickled = pickle.dumps((False, error), protocol=5)
            pickle.loads(pickled)
        except Exception:  # an error that cannot be pickled
            pickled = pickle.dumps((False, ClusterError(f"{type(error).__name__}: {error}")), protocol=5)
    Path(answer).write_bytes(pickled)


def _end_with_the_parent() -> None:
    """The pipe ends when the worker is gone; what waits for other machines would wait forever."""
    os.read(0, 1)  # not through the buffer, whose lock would be held at the end
    os._exit(1)


if __name__ == "__main__":
    main(*sys.argv[1:])
