"""From documents to ranked lists: documents, analysis, index, search.

>>> from plackett.text import Document, Index, search
>>> index = Index.build([Document("a", {"body": "blue whales sing"}), Document("b", {"body": "a blue, blue sky"})])
>>> search(index, "whales")[0].id
'a'
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plackett._names.lazy import open_package

if TYPE_CHECKING:
    from plackett.text.document import Document as Document
    from plackett.text.document import Link as Link
    from plackett.text.documents.html import read_page as read_page
    from plackett.text.index.field import Field as Field
    from plackett.text.index.writer import IndexWriter as IndexWriter

open_package(
    __name__,
    named={
        "Document": "document",
        "Link": "document",
        "Field": "index.field",
        "IndexWriter": "index.writer",
        "read_page": "documents.html",
    },
)
