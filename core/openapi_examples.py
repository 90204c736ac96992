"""Examples of the health checks."""

from core.api.examples import Example

EXAMPLES = {
    "getHealth": Example(
        caller="anonymous",
        answer={"status": "ok", "database": "up", "fastStore": "up"},
        refusal=None,
    ),
    "getLiveness": Example(caller="anonymous", answer={"status": "ok"}, refusal=None),
}
