"""Relations between documents and features of queries survive everything that is done to a dataset."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy.sparse import csr_matrix

import plackett as pk
from plackett import DataError, RankingDataset, Relation
from plackett.data.canonical import canonical_order
from plackett.data.native import open_dataset, save_dataset


def made(seed=0, n_queries=6):
    """A dataset whose rows came in any order, and its relation as a matrix over the document numbers."""
    rng = np.random.default_rng(seed)
    qid = rng.permutation(np.repeat(np.arange(n_queries), 5))
    n = qid.size
    dense = np.where((qid[:, None] == qid) & (rng.random((n, n)) < 0.4), rng.random((n, n)), 0.0)
    _, first = np.unique(qid, return_index=True)
    queries = qid[np.sort(first)]
    data = RankingDataset.from_arrays(
        rng.normal(size=(n, 3)),
        rng.integers(0, 3, n),
        qid,
        docids=np.arange(n),
        relations={"similarity": csr_matrix(dense), "parent": Relation.from_matrix(dense > 0.5)},
        query_features=np.stack([queries, queries**2], axis=1),
    )
    return data, dense


def agrees(data, dense):
    """Whether the relation of a dataset is that of its documents, and query features those of its queries."""
    expected = dense[np.ix_(data.docids, data.docids)]
    np.testing.assert_array_equal(data.relations["similarity"].matrix(data.n_rows).toarray(), expected)
    np.testing.assert_array_equal(data.relations["parent"].matrix(data.n_rows).toarray(), expected > 0.5)
    np.testing.assert_array_equal(data.query_features, np.stack([data.qids, data.qids**2], axis=1))


def test_grouping_selecting_and_splitting():
    data, dense = made()
    agrees(data, dense)
    agrees(data.select([4, 1, 2]), dense)
    agrees(data.select(np.arange(6) > 2), dense)
    for part in pk.split_queries(data, (0.5, 0.5), random_state=0):
        agrees(part, dense)
    agrees(pk.concat([data.select([3, 0]), data.select([5])]), dense)


def test_canonical_order_moves_them_along():
    data, dense = made()
    numbered = data.replace(X=np.column_stack([data.X, data.docids]).astype(np.float32))
    ordered = canonical_order(numbered)
    agrees(ordered.replace(docids=ordered.X[:, -1].astype(int)), dense)


def test_canonical_order_tells_equal_rows_apart_by_their_relations():
    """Four equal documents on a path a → b → c → d: whatever their order, the same graph comes out."""
    rng, result = np.random.default_rng(1), set()
    for _ in range(20):
        order = rng.permutation(4)
        path = np.zeros((4, 4))
        path[order[:-1], order[1:]] = [1.0, 2.0, 3.0]
        data = RankingDataset.from_arrays(np.ones((4, 1)), np.zeros(4), relations={"link": path})
        result.add(canonical_order(data).relations["link"].matrix(4).toarray().tobytes())
    assert len(result) == 1


def test_the_native_file_keeps_them(tmp_path):
    data, dense = made()
    save_dataset(data, tmp_path / "data.plackett")
    agrees(open_dataset(tmp_path / "data.plackett"), dense)
    assert open_dataset(tmp_path / "data.plackett").fingerprint() == data.fingerprint()
    assert data.replace(relations=None).fingerprint() != data.fingerprint()
    assert data.replace(query_features=None).fingerprint() != data.fingerprint()


def test_tables_keep_query_features_and_refuse_relations(tmp_path):
    data, _ = made()
    alone = data.replace(relations=None)
    pk.write(alone, tmp_path / "data.parquet")
    np.testing.assert_array_equal(pk.read(tmp_path / "data.parquet").query_features, data.query_features)
    with pytest.raises(DataError, match="relations between documents do not fit into rows"):
        pk.write(data, tmp_path / "relations.parquet")
    with pytest.raises(DataError, match="query_features do not fit"):
        pk.write(alone, tmp_path / "data.csv")
    with pytest.warns(pk.PlackettWarning, match="cannot hold query_features, relations"):
        pk.write(data, tmp_path / "data.txt")


def test_columns_of_a_frame_describe_the_query():
    frame = pl.DataFrame(
        {"qid": ["b", "a", "b"], "label": [1, 0, 2], "words": [3, None, 3], "kind": [1.0, 0.0, 1.0], "bm25": [1, 2, 3]}
    )
    data = RankingDataset.from_frame(frame, query_features=["words", "kind"])
    assert data.feature_names == ("bm25",)
    np.testing.assert_array_equal(data.query_features, [[3, 1], [np.nan, 0]])
    with pytest.raises(DataError, match="bm25 differs between the rows of query b"):
        RankingDataset.from_frame(frame, query_features="bm25")
    with pytest.raises(DataError, match="query_features: there is no column 'wrods'; did you mean words"):
        RankingDataset.from_frame(frame, query_features=["wrods"])


@pytest.mark.parametrize(
    ("relations", "message"),
    [
        ({"link": Relation.from_pairs([(0, 2)])}, "'link': rows 0 and 2 are of different queries"),
        ({"link": Relation.from_pairs([(0, 7)])}, "'link': pair 0 .*no row 7, the rows are 0..2"),
        ({"link": np.eye(2)}, "'link': the matrix has shape .2, 2., but there are 3 documents"),
        ({"": np.eye(3)}, "the name of a relation must be a string"),
        ([np.eye(3)], "relations must be a mapping"),
    ],
)
def test_bad_relations_are_refused(relations, message):
    with pytest.raises(DataError, match=message):
        RankingDataset.from_arrays(None, [0, 1, 2], qid=[1, 1, 2], relations=relations)


def test_bad_columns_are_refused():
    with pytest.raises(DataError, match=r"weight\[1\] is not finite"):
        Relation.from_pairs([(0, 1), (1, 0)], weight=[1.0, np.nan])
    with pytest.raises(DataError, match="row must hold row numbers, found 0.5"):
        Relation([0.5], [1])
    with pytest.raises(DataError, match="query_features has 1 entries, but the data have 2 queries"):
        RankingDataset.from_arrays(None, [0, 1], qid=[1, 2], query_features=[[1.0]])
    with pytest.raises(DataError, match="infinite"):
        RankingDataset.from_arrays(None, [0, 1], qid=[1, 2], query_features=[[1.0], [np.inf]])


def test_pairs_given_twice_are_added_up():
    data = RankingDataset.from_arrays(
        None, [0, 1], qid=[1, 1], relations={"link": Relation.from_pairs([(0, 1), (1, 0), (0, 1)], weight=[1, 2, 4])}
    )
    assert data.relations["link"].matrix(2).toarray().tolist() == [[0, 5], [2, 0]]


def test_damaged_native_files_are_refused(tmp_path):
    from plackett._files import storage

    data, _ = made()
    save_dataset(data, tmp_path / "data.plackett")
    arrays, _ = storage.read(tmp_path / "data.plackett", kind="dataset", mmap=False)
    arrays = {name: np.array(value) for name, value in arrays.items()}
    for name, change in {
        "relation.0.row": lambda column: column + 1000,
        "relation.0.other": lambda column: column[::-1],
        "relation.0.weight": lambda column: column * np.nan,
        "relations.offsets": lambda column: column + 1,
        "query_features": lambda table: table[:-1],
    }.items():
        storage.write(
            tmp_path / "bad.plackett", arrays | {name: change(arrays[name])}, {"kind": "dataset", "n_features": "3"}
        )
        with pytest.raises(DataError, match="damaged dataset file"):
            open_dataset(tmp_path / "bad.plackett")


def test_datasets_with_relations_are_copied_and_pickled():
    import copy
    import pickle

    data = RankingDataset.from_arrays(None, [1, 0], [1, 1], relations={"link": Relation.from_pairs([(0, 1)])})
    for other in (pickle.loads(pickle.dumps(data)), copy.deepcopy(data), copy.copy(data)):
        assert other.relations["link"].to_pairs().tolist() == [[0, 1]]
        assert not other.y.flags.writeable
        with pytest.raises(TypeError):
            other.relations["link"] = None
