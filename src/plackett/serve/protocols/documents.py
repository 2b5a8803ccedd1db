"""``/docs`` and ``/openapi.json``: what the service offers, for people and for machines."""

from __future__ import annotations

import re
from html import escape
from typing import Any

from plackett._base.version import __version__
from plackett.serve.http import HTML, Request, Response, to_json
from plackett.serve.service import Route, Service

_REASONS = {
    400: "The request is malformed; the reason is given.",
    401: "The API key is missing or not known.",
    404: "There is no such model or version.",
    408: "The body did not arrive in time.",
    413: "The body or the number of documents is too large.",
    415: "The content type or encoding is not accepted.",
    500: "An error of the server.",
    503: "Not ready, or too busy.",
}
_ERROR = {"type": "object", "required": ["error"], "properties": {"error": {"type": "string"}}}


def openapi(service: Service) -> dict[str, Any]:
    """The OpenAPI document of the service."""
    paths: dict[str, Any] = {}
    for route in service.routes:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(service, route)
    description: dict[str, Any] = {
        "openapi": "3.1.0",
        "info": {"title": "plackett", "version": __version__, "description": "Scores documents with saved rankers."},
        "paths": paths,
        "components": {"schemas": {"Error": _ERROR}},
    }
    if service.settings.api_keys:
        description["components"]["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer"}}
    return description


def _operation(service: Service, route: Route) -> dict[str, Any]:
    parameters: list[dict[str, Any]] = [
        {"name": name, "in": "path", "required": True, "schema": _names(service, name)}
        for name in re.findall(r"{(\w+)}", route.path)
    ]
    parameters += [
        {"name": name, "in": "query", "description": text, "schema": _names(service, name)}
        for name, text in route.query.items()
    ]
    statuses = {*route.statuses, 500}
    statuses |= {400, 408, 413, 415} if route.body else set()
    statuses |= {503} if route.needs_models else set()
    statuses |= {401} if service.settings.api_keys and not route.open else set()
    responses: dict[str, Any] = {
        "200": {"description": "Done.", "content": {kind: {"schema": s} for kind, s in route.answer.items()}}
    }
    for status in sorted(statuses):
        content = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
        if status in route.statuses and route.open:  # health checks answer the same way whatever the answer is
            content = {kind: {"schema": s} for kind, s in route.answer.items()}
        responses[str(status)] = {"description": _REASONS[status], "content": content}
    name = f"{route.method.lower()}{re.sub(r'[^A-Za-z0-9]+', '_', route.path).rstrip('_')}"
    operation: dict[str, Any] = {"summary": route.summary, "operationId": name, "responses": responses}
    if parameters:
        operation["parameters"] = parameters
    if route.body:
        operation["requestBody"] = {
            "required": True,
            "content": {kind: {"schema": s} for kind, s in route.body.items()},
        }
    if service.settings.api_keys and not route.open:
        operation["security"] = [{"key": []}]
    return operation


def _names(service: Service, parameter: str) -> dict[str, Any]:
    """The models, or versions, that are served now; or what else a parameter may be."""
    if parameter == "exit":
        return {"type": "string", "enum": ["true", "false"]}
    if parameter == "engine":
        return {"type": "string"} | ({"enum": sorted(service.models.engines)} if service.models.engines else {})
    known = sorted({model.version if parameter == "version" else model.name for model in service.models.all()})
    return {"type": "string"} | ({"enum": known} if known else {})


def document(service: Service, request: Request) -> Response:
    """The OpenAPI document."""
    return Response(to_json(openapi(service)))


def page(service: Service, request: Request) -> Response:
    """A page for people: no script, nothing from elsewhere."""
    rows = "".join(
        f"<tr><td><code>{route.method}</code></td><td><code>{escape(route.path)}</code></td>"
        f"<td>{escape(route.summary)}</td><td>{escape(', '.join(route.body))}</td></tr>"
        for route in service.routes
    )
    models = "".join(
        f"<tr><td>{escape(m.name)}</td><td>{escape(m.version)}</td><td>{escape(str(m.card.get('algorithm', '')))}</td>"
        f"<td>{m.n_features}</td><td><code>{escape(m.fingerprint)}</code></td></tr>"
        for m in service.models.all()
    )
    models += "".join(
        f"<tr><td>{escape(engine.name)}</td><td>{escape(engine.version)}</td>"
        f"<td colspan=3>{escape(repr(engine.pipeline))}</td></tr>"
        for engine in service.models.engines.values()
    )
    models += "".join(
        f"<tr><td>{escape(source.name)}</td><td>{escape(source.version)}</td>"
        f"<td colspan=3>{escape(service.models.failures(source.name)[source.version])}</td></tr>"
        for source in service.models.failed
    )
    text = _PAGE.format(version=escape(__version__), rows=rows, models=models)
    return Response(
        text.encode(), HTML, headers=((b"content-security-policy", b"default-src 'none'; style-src 'unsafe-inline'"),)
    )


_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>plackett</title>
<style>
body {{ font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem; padding: 0 1rem; }}
table {{ border-collapse: collapse; }}
td, th {{ text-align: left; padding: .3rem .8rem; border-bottom: 1px solid #ccc; }}
</style></head><body>
<h1>plackett {version}</h1>
<p>Errors come back as <code>{{"error": "the reason"}}</code>. The same for machines:
<a href="openapi.json">openapi.json</a>.</p>
<h2>Models</h2>
<table><tr><th>name</th><th>version</th><th>algorithm</th><th>features</th><th>fingerprint</th></tr>{models}</table>
<h2>Requests</h2>
<table><tr><th></th><th>path</th><th></th><th>body</th></tr>{rows}</table>
</body></html>
"""

ROUTES = [
    Route("GET", "/docs", page, "This page.", answer={"text/html": {"type": "string"}}),
    Route("GET", "/openapi.json", document, "What the service offers, as OpenAPI."),
]
