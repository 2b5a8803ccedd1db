from __future__ import annotations

import gzip

import numpy as np
import pytest

from plackett import DataError, RankingDataset
from plackett.data.concat import concat
from plackett.datasets import available, load
from plackett.datasets.registry import DATASETS


def write(path, qids, label="1", value="0.5"):
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(f"{label} qid:{q} 1:{value} 3:2 #docid = d{q}\n" for q in qids)
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text)


def qids(data):
    return data.qids.tolist()


def test_folds_and_parts_by_either_layout(tmp_path):
    for i in range(1, 6):
        write(tmp_path / "parts" / "MQ2007" / f"S{i}.txt", [i])
        for name, steps in (("train", (0, 1, 2)), ("vali", (3,)), ("test", (4,))):
            members = [(i - 1 + step) % 5 + 1 for step in steps]
            write(tmp_path / "folds" / "MQ2007" / f"Fold{i}" / f"{name}.txt", members)
    for layout in ("parts", "folds"):
        root = tmp_path / layout
        for i in range(1, 6):
            assert qids(load("mq2007", part=f"S{i}", root=root)) == [i]
        fold = load("mq2007", fold=4, root=root)
        assert [qids(part) for part in fold] == [[4, 5, 1], [2], [3]]
        assert qids(load("MQ2007", fold=2, part="valid", root=root)) == [5]
        assert load("mq2007", fold=1, part="test", root=root).n_features == 46


def test_a_fold_is_read_when_used(tmp_path, monkeypatch):
    for name in ("train", "valid", "test"):
        write(tmp_path / "Yahoo" / f"set1.{name}.txt.gz", [1])
    import plackett.data.letor

    read = []
    original = plackett.data.letor.read_letor
    monkeypatch.setattr(
        "plackett.data.letor.read_letor", lambda path, **kw: read.append(path.name) or original(path, **kw)
    )
    fold = load("yahoo-set1", root=tmp_path)
    assert read == [] and "set1.train.txt.gz" in repr(fold)
    assert fold.test.n_features == 700
    assert fold.test is fold.test and read == ["set1.test.txt.gz"]
    assert isinstance(load("yahoo-set1", part="valid", sparse=True, root=tmp_path), RankingDataset)


def test_istella_has_no_validation_part(tmp_path):
    for name in ("train", "test"):
        write(tmp_path / "istella-letor" / "full" / f"{name}.txt", [1])
    fold = load("istella", root=tmp_path)
    assert fold.valid is None and fold.train.n_features == 220
    with pytest.raises(DataError, match="istella has no part 'valid'"):
        load("istella", part="valid", root=tmp_path)


def test_settings_of_letor_4(tmp_path):
    """Semi-supervised (label -1), rank aggregation (NULL ranks) and total order (any label)."""
    for name, label, value in (("semi", "-1", "0.5"), ("agg", "2", "NULL"), ("list", "812", "0.5")):
        write(tmp_path / f"MQ2008-{name}" / "Fold1" / "train.txt", [1], label, value)
    assert load("mq2008-semi", 1, "train", root=tmp_path).y.tolist() == [-1]
    assert load("mq2008-list", 1, "train", root=tmp_path).y.tolist() == [812]
    ranks = load("mq2008-agg", 1, "train", root=tmp_path)
    assert ranks.n_features == 25 and np.isnan(ranks.X[0, 0])


def test_variants(tmp_path):
    write(tmp_path / "OHSUMED" / "QueryLevelNorm" / "S1.txt", [1], value="0.25")
    write(tmp_path / "OHSUMED" / "Feature-null" / "S1.txt", [1], value="NULL")
    assert load("ohsumed", part="S1", root=tmp_path).X[0, 0] == 0.25
    assert np.isnan(load("ohsumed", part="S1", variant="Feature-null", root=tmp_path).X[0, 0])
    with pytest.raises(DataError, match="ohsumed was not found"):
        load("ohsumed", part="S1", variant="Feature-min", root=tmp_path)
    with pytest.raises(DataError, match="no variant 'raw'; its variants: 'QueryLevelNorm'"):
        load("ohsumed", part="S1", variant="raw", root=tmp_path)


def test_errors_say_where_to_look_and_where_to_get_it(tmp_path, monkeypatch):
    with pytest.raises(DataError, match=r"(?s)mslr-web10k was not found.*MSLR-WEB10K.*available from https://.*mslr"):
        load("mslr-web10k", fold=1, part="train", root=tmp_path)
    monkeypatch.delenv("PLACKETT_DATA", raising=False)
    with pytest.raises(DataError, match="PLACKETT_DATA"):
        load("mq2008", fold=1)
    with pytest.raises(DataError, match="give fold=1 to fold=5, got None"):
        load("mq2008", root=tmp_path)
    with pytest.raises(DataError, match="got 6"):
        load("mq2008", fold=6, root=tmp_path)
    with pytest.raises(DataError, match="one fixed split"):
        load("yahoo-set1", fold=1, root=tmp_path)
    with pytest.raises(DataError, match="part is 'dev'"):
        load("mq2008", fold=1, part="dev", root=tmp_path)


def test_available(tmp_path):
    (tmp_path / "MQ2008").mkdir()
    frame = available(tmp_path)
    assert frame["name"].to_list() == list(DATASETS)
    result = frame.filter(frame["folder"].is_not_null())
    assert result["name"].to_list() == ["mq2008"]


@pytest.mark.golden
def test_the_real_files_have_the_registered_numbers(data_dir):
    for name in ("mq2008", "ohsumed", "mq2007-agg"):
        whole = concat([load(name, part=f"S{i}", root=data_dir) for i in range(1, 6)])
        facts = DATASETS[name]
        assert (whole.n_queries, whole.n_rows, whole.n_features) == (facts.n_queries, facts.n_rows, facts.n_features)
        assert tuple(np.unique(whole.y)) == facts.labels
    letor2 = load("ohsumed-letor2", fold=1, root=data_dir)
    assert (sum(p.n_queries for p in letor2), sum(p.n_rows for p in letor2)) == (106, 16_140)
    fold = load("mq2008", fold=3, root=data_dir)
    assert qids(fold.train) == [q for i in (3, 4, 5) for q in qids(load("mq2008", part=f"S{i}", root=data_dir))]
