"""The `kernel` decorator and the thread helper."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from forks import Forks, afresh
from plackett._kernels.cores import n_threads
from plackett._kernels.kernel import kernel, over_queries, ranges


@kernel
def _sums(lo, hi, offsets, values, out):
    for q in range(lo, hi):
        total = 0.0
        for i in range(offsets[q], offsets[q + 1]):
            total += values[i]
        out[q] = total


#: A process that has Numba and its compiler ready, and no kernel.
READY = """
import numba, plackett._kernels.kernel, plackett._kernels.cache, plackett._kernels.quiet_compiler
numba.njit(lambda x: x * 2.0 + 1.0)(1.0)
"""


@pytest.fixture(scope="module")
def forks():
    started = Forks(READY)
    yield started
    started.end()


def _run(start, folder: Path, cache: Path) -> str:
    code = "import main; value = main.caller(1.0); print(f'{value} hits={sum(main.caller.stats.cache_hits.values())}')"
    (done,) = start(code, folder, {"PLACKETT_CACHE_DIR": str(cache)})
    assert done.status == 0, done.err
    return done.out.strip()


@pytest.fixture
def run(forks):
    """Calls the kernel of a folder in a new process: the value, and how often machine code came from the cache."""
    return partial(_run, forks.run)


@pytest.fixture
def program(tmp_path):
    """A caller in one file and its helper in another."""

    def write(factor: str) -> Path:
        (tmp_path / "helper.py").write_text(
            textwrap.dedent(f"""
            from plackett._kernels.kernel import kernel
            SHIFT = 1.0
            @kernel
            def helper(x):
                return x * {factor}
            """)
        )
        (tmp_path / "main.py").write_text(
            textwrap.dedent("""
            from helper import SHIFT, helper
            from plackett._kernels.kernel import kernel
            @kernel
            def caller(x):
                return helper(x) + SHIFT
            """)
        )
        return tmp_path

    return write


def test_an_edited_helper_in_another_file_is_seen(run, program, tmp_path):
    cache = tmp_path / "cache"
    assert run(program("2.0"), cache) == "3.0 hits=0"
    assert run(program("2.0"), cache) == "3.0 hits=1"  # nothing changed: from the cache
    assert run(program("5.0"), cache) == "6.0 hits=0"  # Numba's own cache would still say 3.0


def test_an_edited_constant_in_another_file_is_seen(run, program, tmp_path):
    cache = tmp_path / "cache"
    folder = program("2.0")
    assert run(folder, cache) == "3.0 hits=0"
    helper = folder / "helper.py"
    helper.write_text(helper.read_text().replace("SHIFT = 1.0", "SHIFT = 10.0"))
    assert run(folder, cache) == "12.0 hits=0"


def test_a_kernel_from_a_template_is_cached_and_sees_an_edited_helper(run, program, tmp_path):
    cache = tmp_path / "cache"

    def edited(factor: str) -> str:
        folder = program(factor)
        (folder / "main.py").write_text(
            textwrap.dedent("""
            from helper import SHIFT, helper
            from plackett._kernels.kernel import kernel_from
            def formula(x):
                raise NotImplementedError
            def template(x):
                return formula(x) + SHIFT
            caller = kernel_from(template, formula=helper)
            """)
        )
        return run(folder, cache)

    assert edited("2.0") == "3.0 hits=0"
    assert edited("2.0") == "3.0 hits=1"
    assert edited("5.0") == "6.0 hits=0"


def test_kernels_of_one_template_that_differ_in_the_second_helper_are_not_mistaken_for_each_other(
    run, program, tmp_path
):
    cache, folder = tmp_path / "cache", program("2.0")
    (folder / "helper.py").write_text(
        textwrap.dedent("""
        from plackett._kernels.kernel import kernel
        @kernel
        def first(x): return x
        @kernel
        def double(x): return 2.0 * x
        @kernel
        def triple(x): return 3.0 * x
        """)
    )

    def calling(second: str) -> str:
        (folder / "main.py").write_text(
            textwrap.dedent(f"""
            import os
            import helper
            from plackett._kernels.kernel import kernel_from
            def template(x):
                return a(x) + b(x)
            both = helper.double, helper.triple
            kernels = {{each.__name__: kernel_from(template, a=helper.first, b=each) for each in both}}
            {second}
            """)
        )
        return run(folder, cache)

    assert calling("kernels['double'](1.0); caller = kernels['triple']") == "4.0 hits=0"
    assert calling("kernels['triple'](1.0); caller = kernels['double']") == "3.0 hits=0"


def test_the_order_of_the_fields_of_a_named_tuple_is_seen(run, program, tmp_path):
    cache, folder = tmp_path / "cache", program("2.0")

    def ordered(fields: str) -> str:
        (folder / "helper.py").write_text(
            f"from collections import namedtuple\nGroup = namedtuple('Group', '{fields}')\n"
        )
        (folder / "main.py").write_text(
            textwrap.dedent("""
            from helper import Group
            from plackett._kernels.kernel import kernel
            @kernel
            def first(group):
                return group.a
            def caller(x):
                return first(Group(a=x, b=7.0))
            caller.stats = first.stats
            """)
        )
        return run(folder, cache)

    assert ordered("a b") == "1.0 hits=0"
    assert ordered("b a") == "1.0 hits=0"  # machine code for the other order would give 7.0


_MOMENTS = """
    import numpy as np
    from plackett._kernels.kernel import REASSOC, kernel
    @kernel(fastmath=REASSOC)
    def moments(values, n):
        mean = 0.0
        for i in range(n):
            mean += values[i] / n
        total = 0.0
        for i in range(n):
            total += np.exp(-abs(values[i] - mean)) * (values[i] - mean)
        cubes = 0.0
        for i in range(n):
            cubes += (values[i] - mean) ** 3 * total
        return total + cubes
"""


def test_same_bits_in_the_process_that_compiles_and_in_later_ones(tmp_path):
    (tmp_path / "helper.py").write_text(textwrap.dedent(_MOMENTS))
    (tmp_path / "main.py").write_text(
        textwrap.dedent("""
        import numpy as np
        from helper import moments
        from plackett._kernels.kernel import kernel
        @kernel
        def differences(values, out):
            for i in range(values.size):
                out[i] = moments(values, i) - moments(values[i:], values.size - i)
        def caller(x):
            values = np.random.default_rng(0).normal(size=200)
            out = np.empty(200)
            differences(values, out)
            return out.tobytes().hex()
        caller.stats = differences.stats
        """)
    )
    first, second = (_run(afresh, tmp_path, tmp_path / "cache") for _ in range(2))
    assert (first[-1], second[-1]) == ("0", "1")
    assert first[:-1] == second[:-1]


@pytest.mark.full
@pytest.mark.parametrize("loss", ["LambdaLoss", "SmoothRank", "StochasticSmoothing"])
def test_same_gradients_in_the_process_that_compiles_and_in_later_ones(tmp_path, loss):
    (tmp_path / "main.py").write_text(
        textwrap.dedent(f"""
        import numpy as np, plackett as pk
        data = pk.datasets.make_ranking(n_queries=30, docs_per_query=(5, 60), n_features=3, random_state=0)
        gradient = pk.losses()["{loss}"]().gradient(data.X[:, 0] + data.X[:, 1], data)
        def caller(x):
            return np.concatenate(gradient).tobytes().hex()
        """)
    )
    code = "import main; print(main.caller(1.0))"
    environment = {**os.environ, "PLACKETT_CACHE_DIR": str(tmp_path / "cache")}
    first, second = (
        subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, check=True)
        for _ in range(2)
    )
    assert len(first.stdout) > 1000
    assert first.stdout == second.stdout


def test_a_kernel_from_the_cache_is_linked_into_a_new_caller(forks, run, program, tmp_path):
    folder, cache = program("2.0"), tmp_path / "cache"
    assert run(folder, cache) == "3.0 hits=0"
    main = folder / "main.py"
    main.write_text(main.read_text().replace("+ SHIFT", "- SHIFT"))
    code = "import main; value = main.caller(1.0); print(value, sum(main.helper.inner.stats.cache_hits.values()))"
    (done,) = forks.run(code, folder, {"PLACKETT_CACHE_DIR": str(cache)})
    assert done.out.strip() == "1.0 1", done.err


@kernel
def _root(x, least):
    if x < least:
        raise ValueError("below the least")
    return np.sqrt(x - least)


@kernel
def _roots(x, least):
    return _root(x, 0) + _root(x, 1) + _root(x, least)


def test_a_called_kernel_raises_its_errors():
    assert _roots(9.0, 5) == 5.0 + np.sqrt(8.0)
    with pytest.raises(ValueError, match="below the least"):
        _roots(9.0, 10)


def test_without_a_writable_cache_kernels_still_work(run, program, tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")  # works for root too, who may write to read-only folders
    assert run(program("2.0"), blocked / "cache") == "3.0 hits=0"
    assert run(program("2.0"), blocked / "cache") == "3.0 hits=0"


@pytest.mark.parametrize("n_jobs", [1, 2, 5, None])
def test_over_queries_gives_the_same_for_any_number_of_threads(n_jobs):
    rng = np.random.default_rng(0)
    offsets = np.concatenate(([0], np.cumsum(rng.integers(0, 300, 2000))))
    values = rng.normal(size=offsets[-1])
    out = np.full(2000, np.nan)
    over_queries(_sums, offsets, values, out, n_jobs=n_jobs)
    expected = [values[a:b].sum() for a, b in pairwise(offsets)]
    np.testing.assert_allclose(out, expected, atol=1e-12)


def test_ranges_cover_every_query_once():
    offsets = np.array([0, 5, 5, 100_000, 100_001])  # one query holds nearly all rows
    for parts in (1, 2, 3, 10):
        covered = [q for lo, hi in ranges(offsets, parts) for q in range(lo, hi)]
        assert covered == [0, 1, 2, 3]
    assert list(ranges(np.zeros(1, np.int64), 2)) == []


def test_over_queries_passes_errors_on():
    def broken(lo, hi, offsets):
        raise RuntimeError("inside")

    with pytest.raises(RuntimeError, match="inside"):
        over_queries(broken, np.array([0, 50_000, 100_000]), n_jobs=2)


def test_environment_lowers_the_number_of_threads(monkeypatch):
    monkeypatch.setenv("PLACKETT_NUM_THREADS", "1")
    assert n_threads() == n_threads(-1) == 1 and n_threads(3) == 3
    cores = os.cpu_count() or 1
    for nonsense in ("", "0", "many", str(cores + 1)):
        monkeypatch.setenv("PLACKETT_NUM_THREADS", nonsense)
        assert 1 <= n_threads() <= cores


def test_n_threads():
    cores = n_threads()
    assert n_threads(-1) == cores
    assert n_threads(-cores - 5) == 1
    for bad in (0, 1.5, "2"):
        with pytest.raises(ValueError, match="n_jobs"):
            n_threads(bad)


def _files(cache: Path) -> list[Path]:
    return sorted(cache.rglob("*.code"))


@pytest.mark.parametrize("damage", ["cut", "flip", "empty", "other"])
def test_damaged_files_are_compiled_again(run, program, tmp_path, damage):
    cache = tmp_path / "cache"
    folder = program("2.0")
    assert run(folder, cache) == "3.0 hits=0"
    files = _files(cache)
    contents = [file.read_bytes() for file in files]
    assert len(files) == 2
    for file, content in zip(files, contents, strict=True):
        middle = len(content) // 2
        file.write_bytes(
            {
                "cut": content[:middle],
                "flip": content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :],
                "empty": b"",
                "other": contents[0],  # sound, but in one of the two places the code of another kernel
            }[damage]
        )
    assert run(folder, cache) in ("3.0 hits=0", "3.0 hits=1" if damage == "other" else "")
    assert run(folder, cache) == "3.0 hits=1"


def test_four_processes_fill_one_cache(forks, run, program, tmp_path):
    folder, cache = program("2.0"), tmp_path / "cache"
    code = (
        "import main, sys; import numpy as np;"
        "print([main.caller(t(1)) for t in (float, int, np.float32)[::int(sys.argv[1])]])"
    )
    for done in forks.run(code, folder, {"PLACKETT_CACHE_DIR": str(cache)}, ("1", "-1", "1", "-1")):
        assert (done.out.strip(), done.err) == ("[3.0, 3.0, 3.0]", "")
    assert len(_files(cache)) == 6  # two kernels, three types; no file is left that was not finished
    assert len([path for path in cache.rglob("*") if path.is_file()]) == 6
    assert run(folder, cache) == "3.0 hits=1"


def test_without_a_home_nothing_is_kept(program, monkeypatch):
    import plackett._kernels.folder as module

    def no_home(path):
        raise RuntimeError("Could not determine home directory.")

    for name in ("PLACKETT_CACHE_DIR", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "expanduser", no_home)
    assert module.cache_root.__wrapped__() is None


def test_openmp_variables_lower_the_number_of_threads(monkeypatch):
    for name in ("OMP_NUM_THREADS", "OMP_THREAD_LIMIT"):
        monkeypatch.setenv(name, "1,4")
        assert n_threads() == n_threads(-1) == 1 and n_threads(3) == 3
        monkeypatch.delenv(name)


@pytest.mark.parametrize(
    ("groups", "files", "expected"),
    [
        ("0::/a/b\n", {"cpu.max": "max 100000", "a/cpu.max": "250000 100000", "a/b/cpu.max": "max 100000"}, 3),
        ("0::/a\n", {"a/cpu.max": "50000 100000"}, 1),
        ("0::/gone\n", {"cpu.max": "200000 100000"}, 2),
        ("0::/a\n", {"a/cpu.max": "max 100000"}, None),
        ("0::/a\n", {"a/cpu.max": "nonsense"}, None),
        ("3:cpu,cpuacct:/a\n", {"cpu/a/cpu.cfs_quota_us": "400000", "cpu/a/cpu.cfs_period_us": "100000"}, 4),
        ("3:cpu,cpuacct:/a\n", {"cpu/a/cpu.cfs_quota_us": "-1", "cpu/a/cpu.cfs_period_us": "100000"}, None),
        ("nonsense\n", {}, None),
    ],
)
def test_limits_of_containers(tmp_path, groups, files, expected):
    from plackett._kernels.cores import _container_cores

    for name, content in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content)
    (tmp_path / "groups").write_text(groups)
    assert _container_cores(str(tmp_path / "groups"), str(tmp_path)) == expected
