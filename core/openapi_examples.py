"""Examples of the health checks in the OpenAPI document."""

from core.api.examples import Example, not_acceptable

EXAMPLES = {
    "getHealth": Example(
        caller="anonymous",
        answer={"status": "ok", "database": "up", "fastStore": "up"},
        refusal=not_acceptable(),
    ),
    "getLiveness": Example(
        caller="anonymous", answer={"status": "ok"}, refusal=not_acceptable()
    ),
}
