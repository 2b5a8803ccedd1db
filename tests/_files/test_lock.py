"""Locks belong to the process that took them, also after a fork."""

from __future__ import annotations

import multiprocessing
import os
import sys
from contextlib import contextmanager

import pytest

from plackett._base.errors import DataError
from plackett.experiments.cells.folder import CellFolder
from plackett.text import Document, Index, IndexWriter

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="fork is safe on Linux only"),
    pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning"),
]


@contextmanager
def forked(function):
    """A child that calls the function, sends what it returns, and lives until the block ends."""
    context = multiprocessing.get_context("fork")
    (answer, sender), (waiting, end) = context.Pipe(duplex=False), context.Pipe(duplex=False)

    def run():
        try:
            sender.send(function())
        except BaseException as error:
            sender.send(error)
        waiting.poll(60)
        os._exit(0)

    child = context.Process(target=run)
    child.start()
    try:
        assert answer.poll(60), "the child hangs"
        yield answer.recv()
    finally:
        end.send(None)
        child.join()


def opened(path):
    """Whether another process can open the index."""
    try:
        IndexWriter(path).close()
    except DataError as error:
        return "another process is writing" not in str(error)
    return True


def test_a_child_does_not_keep_the_index_of_its_parent_locked(tmp_path):
    writer = IndexWriter(tmp_path)
    writer.add(Document("a", {"body": "blue whales"}))
    with forked(lambda: opened(tmp_path)) as open_in_child:
        assert not open_in_child, "the parent writes"
        writer.commit()
        writer.close()
        assert opened(tmp_path), "while the child is still there"
    assert Index.open(tmp_path).n_documents == 1


def test_a_child_that_ends_does_not_release_the_lock_of_its_parent(tmp_path):
    writer = IndexWriter(tmp_path)

    def end():
        writer.close()
        del writer._lock
        return True

    with forked(end):
        pass
    with forked(lambda: opened(tmp_path)) as open_in_another:
        assert not open_in_another
    assert not opened(tmp_path)
    writer.close()


def test_a_child_cannot_write_the_index_of_its_parent(tmp_path):
    with IndexWriter(tmp_path) as writer:
        writer.add(Document("a", {"body": "blue whales"}))
        files = sorted(os.listdir(tmp_path))
        for use in (lambda: writer.add(Document("b", {"body": "sky"})), lambda: writer.delete(["a"]), writer.commit):
            with forked(use) as answer:
                assert isinstance(answer, DataError) and "this writer is closed" in str(answer)
        with forked(lambda: writer.__exit__(ValueError, None, None)):
            assert sorted(os.listdir(tmp_path)) == files, "what is not committed is the parent's"
    assert Index.open(tmp_path).n_documents == 1


def test_a_closed_writer_writes_nothing(tmp_path):
    with IndexWriter(tmp_path) as writer:
        pass
    with pytest.raises(DataError, match="this writer is closed"):
        writer.add(Document("a", {"body": "x"}))


def test_a_child_does_not_keep_an_experiment_locked(tmp_path):
    def free():
        try:
            with CellFolder(tmp_path).locked():
                return True
        except DataError:
            return False

    with CellFolder(tmp_path).locked():
        with forked(free) as free_in_child:
            assert not free_in_child
        assert not free(), "a child that ends releases nothing"
        child = forked(lambda: None)
        child.__enter__()
    try:
        assert free(), "while the child is still there"
    finally:
        child.__exit__(None, None, None)
