"""Offsets in files from strangers that fall, or wrap around 2**64: an error of ours, never a crash of the process."""

from __future__ import annotations

import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import plackett as pk
from plackett import DataError
from plackett._files import storage as _storage
from plackett._files.checks import offsets_fit
from plackett.applications import AlternatingLeastSquares, Ratings
from plackett.clicks import ClickLog, load_model, open_log
from plackett.experiments.cells.cell import Cell, read_cell, write_cell
from plackett.scorers._training_data import pack_data, unpack_data
from plackett.scorers.model import digest
from plackett.text.document import Document, Link

MOST = 2**63 - 1


@pytest.mark.parametrize(
    ("offsets", "n", "fit"),
    [
        ([0, 1, 1, 3], None, True), ([0, 1, 1, 3], 3, True), ([0, 1, 1, 3], 2, False), ([0], 0, False),
        ([], None, False), ([0, 2, 1, 3], None, False), ([1, 3], None, False), ([0, 2], None, False),
        ([0, MOST, -2, 3], None, False), ([0, MOST, -MOST - 1, 3], None, False), ([[0, 3]], None, False),
        ([0.0, 3.0], None, False),
    ],
)  # fmt: skip
def test_offsets_fit(offsets, n, fit):
    assert offsets_fit(np.array(offsets, None if offsets else np.int64), 3, n) is fit


def task():
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(60, 3)), 1).astype(np.float32)
    qid = np.array([f"query {i // 6}" for i in range(60)])
    return pk.RankingDataset.from_arrays(X, np.clip(np.round(X[:, 0] + 1), 0, 2), qid, docids=np.arange(60).astype(str))


def use_dataset(path):
    data = pk.read(path)
    data.select(np.arange(data.n_queries)[::-1]).fingerprint()


def use_index(path):
    index = pk.Index.open(path.parent)
    for name in index.fields:
        index.field(name).term_ids(["wing"])
    for name in index.kinds:
        index.values(name)
    [index.document(i) for i in range(index.n_documents)]
    index.edges()


def use_log(path):
    log = open_log(path)
    log.rank, log.page, log.pair  # noqa: B018


def use_cell(path):
    read_cell(path).qids.tolist()


def use_model(path):
    data = task()
    with np.errstate(all="ignore"):
        pk.load(path).predict(data.X, qid=data.qid)


def files(folder: Path):
    """Files of every kind that has offsets, and what reads them."""
    data = task()
    data = data.replace(X=pk.RankingDataset.from_arrays(data.dense(), None).X)
    pk.write(data, folder / "data.plackett")
    yield folder / "data.plackett", use_dataset
    documents = [
        Document(f"d{i}", {"body": f"a wing of lift {i} " * i, "year": i, "title": f"t {i}"}, (Link("d1", "one"),))
        for i in range(6)
    ]
    pk.Index.create(folder / "index", documents)
    yield from ((path, use_index) for path in sorted((folder / "index").glob("*.plackett")))
    log = ClickLog.from_arrays(
        ["q", "r", "q"], [["a", "b"], ["b"], ["c", "a"]], [[0, 1], [1], [0, 0]], ranks=[[1, 2], [3], [4, 5]]
    )
    log.save(folder / "log.plackett")
    yield folder / "log.plackett", use_log
    pk.clicks.PBM(max_iter=2).fit(log).save(folder / "clicks.plackett")
    yield folder / "clicks.plackett", load_model
    cell = Cell(
        dataset="d", fold=1, ranker="r", key="k", setting={}, trials=(), select="nDCG@10", chosen_by={},
        qids=data.qids, scores=np.zeros(60), valid_scores=None, measures={}, values={}, history=np.empty(0),
        seconds={}, effort="", refit=False, versions={}, model_path=None,
    )  # fmt: skip
    write_cell(cell, folder / "cell.plackett")
    yield folder / "cell.plackett", use_cell
    ratings = Ratings.from_arrays(["u", "u", "v"], ["i", "j", "i"], [1.0, 2.0, 3.0])
    AlternatingLeastSquares(n_factors=2).fit(ratings).save(folder / "als.plackett")
    yield folder / "als.plackett", pk.load
    trees = {"n_estimators": 3, "num_leaves": 4, "min_child_samples": 1, "n_jobs": 1}
    for ranker in (
        pk.LambdaMART(**trees),
        pk.RankBoost(n_estimators=9),
        pk.AssociationRules(),
        pk.KNNOnline(base="PRank", k=3),
        pk.Cascade(stages=(pk.ListNet(max_iter=2), pk.LambdaMART(**trees)), keep=(3,)),
    ):
        path = folder / f"{type(ranker).__name__}.plackett"
        ranker.fit(data).save(path)
        yield path, use_model


def attack(folder: Path, seed: int = 0) -> None:
    """Put offsets that fall or wrap around into every array of whole numbers; raise what is no error of ours."""
    rng = np.random.default_rng(seed)
    refused = 0
    for path, use in list(files(folder)):
        arrays, metadata = _storage.read(path, mmap=False)
        for name, array in arrays.items():
            if array.dtype not in (np.int32, np.int64) or array.ndim != 1 or array.size < 3:
                continue
            top = np.iinfo(array.dtype).max
            for strange in ((top, -2), (top, -top - 1), (-top, top), (2**20, 3), (top // 2, -top // 2)):
                at = int(rng.integers(1, max(array.size - 2, 2)))
                bad = array.copy()
                bad[at : at + 2] = strange[: min(2, array.size - 1 - at)]
                changed = {**arrays, name: bad}
                if "digest" in metadata:
                    metadata = metadata | {"digest": digest(metadata["ranker"], changed)}
                _storage.write(path, changed, metadata)
                print(path.name, name, bad[:4], flush=True)  # the last line names the file that ended the process
                try:
                    use(path)
                except DataError:
                    refused += 1
        _storage.write(path, arrays, metadata)
    print(f"{refused} refused")


def test_files_with_offsets_that_wrap_around(tmp_path):
    """In a process of its own: where a check is missing, kernels read beyond their arrays."""
    done = subprocess.run([sys.executable, __file__, tmp_path], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, (done.returncode, done.stdout[-300:], done.stderr[-3000:])
    assert int(done.stdout.split()[-2]) > 100


@pytest.mark.parametrize("name", ["offsets", "X.indptr"])
def test_training_data_inside_a_model(name):
    from scipy.sparse import csr_matrix

    data = task()
    arrays = pack_data(data.replace(X=csr_matrix(data.X)))
    assert unpack_data(arrays).n_rows == 60
    bad = arrays[name].copy()
    bad[1:3] = np.iinfo(bad.dtype).max, -2
    with pytest.raises(DataError, match="damaged"):
        unpack_data({**arrays, name: bad})


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    attack(Path(sys.argv[1]))
