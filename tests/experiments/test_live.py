"""What the progress display shows."""

from __future__ import annotations

import io

from rich.console import Console

from plackett.experiments.live import ROWS, Board

PLACES = [("mq", fold, ranker) for ranker in ("ListNet", "RankSVM") for fold in (1, 2, 3)]


def shown(board):
    console = Console(file=io.StringIO(), width=120)
    console.print(board._table())
    return console.file.getvalue()


def test_table_has_signs_values_and_trials():
    board = Board(PLACES, "AP", verbose=False)
    with board:
        board.note(PLACES[0], "running")
        board.note(PLACES[0], "running", 0.4, 3)
        board.note(PLACES[0], "done", 0.4)
        board.note(PLACES[1], "kept", 0.6, 2)
        board.note(PLACES[2], "running", None, 1)
        board.note(PLACES[3], "failed")
    text = shown(board)
    (listnet,) = (line for line in text.splitlines() if "ListNet" in line)
    (svm,) = (line for line in text.splitlines() if "RankSVM" in line)
    assert "✓ ○ ▶" in listnet and " 6 " in listnet and "0.5000" in listnet  # 3 + 2 + 1 trials, mean of .4 and .6
    assert "✗ · ·" in svm and "best AP" in text and "3 of 6 cells" in text


def test_what_runs_is_shown_first_where_there_is_no_room():
    places = [("d", 1, f"ranker{i:03}") for i in range(ROWS + 20)]
    board = Board(places, "AP", verbose=False)
    board.note(places[-1], "running")
    text = shown(board)
    assert places[-1][2] in text and text.count("ranker0") == ROWS


def test_lines_where_there_is_no_terminal(capsys):
    with Board(PLACES, "AP", verbose=True) as board:
        board.note(PLACES[0], "running")
        board.note(PLACES[0], "done", 0.25)
        board.note(PLACES[1], "failed")
    first, second = capsys.readouterr().err.splitlines()
    assert first.startswith("[1/6] mq fold 1 ListNet: done, AP 0.2500 on validation, ")
    assert second == "[2/6] mq fold 2 ListNet: failed"


def test_silence(capsys):
    with Board(PLACES, "AP", verbose=False) as board:
        board.note(PLACES[0], "done", 0.25)
    assert capsys.readouterr().err == ""
