"""All benchmarks, one after another: ``make bench``. Give names to run some: ``python benchmarks/run.py evaluate``."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
#: Those that need more than this machine: real data, or a long time.
ON_REQUEST = {"letor"}


def main() -> int:
    known = sorted(p.stem for p in HERE.glob("*.py") if not p.name.startswith("_") and p.stem != "run")
    chosen = sys.argv[1:] or [name for name in known if name not in ON_REQUEST]
    unknown = set(chosen) - set(known)
    if unknown:
        print(f"no benchmark {sorted(unknown)[0]!r}; there are {', '.join(known)}", file=sys.stderr)
        return 2
    failed = []
    for name in chosen:
        print(f"\n== {name}", flush=True)
        if subprocess.run([sys.executable, str(HERE / f"{name}.py")]).returncode:
            failed.append(name)
    if failed:
        print(f"\nfailed: {', '.join(failed)}", file=sys.stderr)
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
