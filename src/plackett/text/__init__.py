"""From documents to ranked lists: documents, analysis, index, search.

>>> from plackett.text import Document, Index, search
>>> index = Index.build([Document("a", {"body": "blue whales sing"}), Document("b", {"body": "a blue, blue sky"})])
>>> search(index, "whales")[0].id
'a'
"""

from __future__ import annotations

from plackett._names.lazy import open_package

open_package(__name__)
