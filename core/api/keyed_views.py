"""Views whose writes take an `Idempotency-Key`."""

import functools
from collections.abc import Callable
from collections.abc import Set as AbstractSet
from typing import Any, ClassVar

from rest_framework.exceptions import ParseError, UnsupportedMediaType
from rest_framework.request import Request
from rest_framework.response import Response

from core.api.keyed_answers import KeyedRequest
from core.api.request_keys import (
    IDEMPOTENCY_KEY,
    hash_request,
    is_dry_run,
    read_key,
    takes_key,
)
from core.api.views import APIView, raise_if_compressed


class KeyedView(APIView):
    # Handlers or actions that take a key; None for all writes.
    keyed_actions: ClassVar[AbstractSet[str] | None] = None
    # Those that take none.
    keyless_actions: ClassVar[AbstractSet[str]] = frozenset()
    # False if the handler looks the key up itself.
    is_one_transaction = True

    @property
    def key_owner(self) -> dict[str, int]:
        """Return whose keys they are, by the columns of the table."""
        raise NotImplementedError

    def answer_once(
        self, keyed: KeyedRequest, handle: Callable[[], Response]
    ) -> Response:
        """Look the key up and run `handle`, or answer as before, in a transaction."""
        raise NotImplementedError

    def prepare(self, request: Request) -> None:
        """Let the handler run once for each `Idempotency-Key`.

        The key is looked up before the request is checked.
        """
        keyed = self.read_key_first(request) if self.is_one_transaction else None
        if keyed is None:
            super().prepare(request)
            return
        name = str(request.method).lower()
        handler = getattr(self, name)

        @functools.wraps(handler)
        def answer(request: Request, *args: Any, **kwargs: Any) -> Response:
            def handle() -> Response:
                self.check_request(request)
                response: Response = handler(request, *args, **kwargs)
                return response

            return self.answer_once(keyed, handle)

        setattr(self, name, answer)

    def read_key_first(self, request: Request) -> KeyedRequest | None:
        """Read the key of a request that nothing has been refused for."""
        if IDEMPOTENCY_KEY not in request.headers:
            return None
        raise_if_compressed(request)
        try:
            return self.read_key(request)
        except (ParseError, UnsupportedMediaType):
            # A body that cannot be read is refused after the row is looked up.
            self.check_request(request)
            self.raise_if_missing()
            raise

    def raise_if_missing(self) -> None:
        """Raise `NotFoundError` if the path names a row that is not there."""

    def read_key(self, request: Request) -> KeyedRequest | None:
        """Return None for a request that has no key, or writes nothing."""
        has_key = IDEMPOTENCY_KEY in request.headers and takes_key(self, request)
        if not has_key or is_dry_run(request):
            return None
        key = read_key(request)
        if key is None:
            return None
        return KeyedRequest(self.key_owner, key, hash_request(request))
