from __future__ import annotations

from plackett._base import progress as module
from plackett._base.progress import progress


def test_shown_only_when_it_takes_long(capsys, monkeypatch):
    assert list(progress(range(3), "short", 3)) == [0, 1, 2]
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(module, "PATIENCE", 0.0)
    assert list(progress(iter(range(3)), "long work")) == [0, 1, 2]
    assert "long work" in capsys.readouterr().err


def test_silent(capsys, monkeypatch):
    monkeypatch.setattr(module, "PATIENCE", 0.0)
    assert list(progress(range(3), "quiet", 3, verbose=False)) == [0, 1, 2]
    assert capsys.readouterr().err == ""


def test_bar_is_put_away_when_the_work_fails(capsys, monkeypatch):
    monkeypatch.setattr(module, "PATIENCE", 0.0)
    items = progress(iter([1, 2, 3]), "broken")
    assert next(items) == 1
    items.close()
    assert "broken" in capsys.readouterr().err
