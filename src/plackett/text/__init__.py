"""From documents to ranked lists: documents, analysis, index, search.

How a model reads an index
--------------------------
`plackett.text.Index` is a snapshot. ``index.field(name)`` is a `plackett.text.index.field.Field`: one field of all live
documents as flat arrays, however many segments the index has. Deleted documents do not exist in it, so every statistic
is over live documents. An index of one segment without deletions maps the arrays from the file; otherwise the field is
put together in memory when it is first used.

- ``field.n_documents``, ``field.lengths`` (int32 per document, without stop words), ``field.total_length``,
  ``field.average_length``;
- ``field.term_ids(tokens)``: int32 numbers of terms, -1 for unknown ones; ``index.analyzer.tokens(query)`` makes the
  tokens;
- ``field.document_frequency``, ``field.collection_frequency``: int64 per term;
- ``field.postings``: ``offsets``, ``documents``, ``counts``, ``position_offsets``, ``positions``: the documents of term
  ``t`` are ``documents[offsets[t]:offsets[t + 1]]``, increasing; ``field.positions(t)`` gives them by document;
- ``field.forward``: ``offsets``, ``terms``, ``counts``: the distinct terms of a document, increasing;
- ``field.stream``: ``offsets``, ``terms``: the terms of a document in reading order, -1 for a stop word or a gap.

Offsets are int64, everything else int32; the groups are named tuples and can be passed to kernels.
``index.values(name)`` has numbers and dates by document, ``index.edges()`` the links between documents, ``index.id(d)``
and ``index.numbers(ids)`` go between numbers and ids. A field that holds the terms of several (``"all"`` by default) is
a field like any other.

>>> from plackett.text import Document, Index
>>> index = Index.build([Document("a", {"body": "blue whales sing"}), Document("b", {"body": "a blue, blue sky"})])
>>> field = index.field("body")
>>> (term,) = field.term_ids(index.analyzer.tokens("Blue"))
>>> postings = field.postings
>>> part = slice(postings.offsets[term], postings.offsets[term + 1])
>>> postings.documents[part].tolist(), postings.counts[part].tolist()
([0, 1], [1, 2])
>>> field.lengths.tolist(), field.average_length, field.stream.terms[field.stream.offsets[1]:].tolist()
([3, 3], 3.0, [-1, 0, 0, 2])
"""

from __future__ import annotations

from plackett._names.lazy import open_package

open_package(__name__)
