"""A client that speaks JSON (spec 1.3) with a member's session."""

import functools
import json
from decimal import Decimal
from typing import Any

from django.test.client import Client, ClientHandler

from accounts.models import Member
from accounts.sessions.store import create_session
from tests.support.documented import assert_documented


@functools.cache
def share_handler(enforce_csrf_checks: bool) -> ClientHandler:
    """Return one handler for all clients: each would load the middleware anew."""
    handler = ClientHandler(enforce_csrf_checks=enforce_csrf_checks)
    handler.load_middleware()
    return handler


class JSONClient(Client):
    """Sends and reads JSON; `as_member` presents a bearer token."""

    def __init__(self, member: Member | None = None, **defaults: Any) -> None:
        super().__init__(raise_request_exception=False, **defaults)
        self.handler = share_handler(defaults.get("enforce_csrf_checks", False))
        self.token, self.member = "", member
        if member is not None:
            # A login of a member with a second factor has shown it.
            has_factor = member.has_second_factor
            self.use_token(create_session(member, has_shown_factor=has_factor)[0])

    def use_token(self, token: str) -> None:
        self.token = token
        self.defaults["HTTP_AUTHORIZATION"] = f"Bearer {token}"

    def request(self, **request: Any) -> Any:
        """Return the response, which must be as the OpenAPI document says."""
        response: Any = super().request(**request)
        assert_documented(response)
        return response

    def send(self, method: str, path: str, body: Any = None, **extra: Any) -> Any:
        """Return the response, with `.data` as the parsed body (exact decimals)."""
        if body is not None:
            extra |= {"data": json.dumps(body), "content_type": "application/json"}
        response: Any = self.generic(method.upper(), path, **extra)
        response.data = None
        if response.streaming:
            response.getvalue()  # which closes it
        elif response.content and "json" in response.headers["Content-Type"]:
            response.data = json.loads(response.content, parse_float=Decimal)
        return response

    def get_json(self, path: str, **query: Any) -> Any:
        """Return the body of a GET that must succeed."""
        response = self.get(path, {k: v for k, v in query.items() if v is not None})
        assert response.status_code == 200, response.content
        return json.loads(response.content, parse_float=Decimal)

    def create_json(self, path: str, body: Any) -> Any:
        """Return the body of the answer to a POST that must create a row."""
        response = self.send("POST", path, body)
        assert response.status_code == 201, response.content
        return response.data

    def change_json(self, method: str, path: str, body: Any) -> Any:
        """Return the body of the answer to a PUT or PATCH that must succeed."""
        response = self.send(method, path, body)
        assert response.status_code == 200, response.content
        return response.data
