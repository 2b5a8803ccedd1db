"""``plackett links``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from plackett._files.checks import check_regular
from plackett.cli.arguments import Force, Json, check_out
from plackett.cli.output import print_json, print_table


def links(
    source: Annotated[
        Path, typer.Argument(metavar="LINKS|INDEX", help="Links (source and target per line, or parquet), or an index.")
    ],
    out: Annotated[Path | None, typer.Option(help="Table with a row per page: .csv or .parquet.")] = None,
    damping: Annotated[float, typer.Option(help="Probability of following a link.", min=0.0, max=1.0)] = 0.85,
    seeds: Annotated[Path | None, typer.Option(help="Trusted pages, one per line: adds TrustRank.")] = None,
    names_are_urls: Annotated[
        bool, typer.Option("--urls", help="Names of the pages are URLs: adds their features.")
    ] = False,
    url_field: Annotated[str | None, typer.Option(help="Field of the index with URLs.")] = None,
    self_links: Annotated[bool, typer.Option(help="Count links from a page to itself.")] = False,
    top: Annotated[int, typer.Option(help="Pages to show.", min=0)] = 10,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Rank pages by their links: PageRank, HITS, TrustRank, HostRank, counts and URLs."""
    from plackett._files.atomic import replacing
    from plackett.graph.links import read_links
    from plackett.graph.table import link_table

    check_out(out, force)
    if out is not None and out.suffix not in (".csv", ".parquet"):
        raise typer.BadParameter(f"{out}: name a .csv or .parquet file", param_hint="--out")
    urls = None
    if source.is_dir():
        from plackett.text.index.index import Index
        from plackett.text.retrieval.propagated import link_graph

        index = Index.open(source)
        graph = link_graph(index)
        if url_field is not None:
            urls = index.values(url_field).tolist()
    else:
        graph = read_links(source, self_links=self_links)
    if names_are_urls:
        urls = [str(name) for name in graph.names]
    trusted = None
    if seeds is not None:
        check_regular(seeds)
        trusted = [line.strip() for line in seeds.read_text(encoding="utf-8").splitlines() if line.strip()]
    table = link_table(graph, damping=damping, seeds=trusted, urls=urls)
    if out is not None:
        with replacing(out) as file:
            table.write_csv(file) if out.suffix == ".csv" else table.write_parquet(file)
    best = table.sort(["pagerank", "docid"], descending=[True, False]).head(top)
    dangling = int(graph.dangling.sum())
    if as_json:
        record = {"pages": graph.n_nodes, "links": graph.n_links, "dangling": dangling, "top": best.to_dicts()}
        print_json(record | ({"out": str(out)} if out is not None else {}))
        return
    print(f"{graph.n_nodes} pages, {graph.n_links} links, {dangling} pages without links")
    shown = [
        name for name in ("docid", "inlinks", "outlinks", "pagerank", "authority", "trustrank") if name in table.columns
    ]
    rows = [[f"{v:.5f}" if isinstance(v, float) else str(v) for v in row] for row in best.select(shown).iter_rows()]
    print_table(shown, rows, title="by PageRank", numbers=list(range(1, len(shown))))
