"""Clients of the web server: a member with all sessions and tokens, else an address.

Each process learns the member of a credential from its first answered request.
"""

import threading
from collections import OrderedDict
from functools import lru_cache
from typing import Any

from core.client_ip import find_client_address, rate_limit_key

# The environment's key of the member who is logged in, None after a 401. Middleware
# sets it.
MEMBER_ID_KEY = "household_ledger.member_id"
MAX_KNOWN_CREDENTIALS = 10_000
# Clients may write the same token in many ways.
MAX_CREDENTIAL_LENGTH = 1_000

Environ = dict[str, Any]


class RequestClients:
    """Names the client of a request: `member 5` or `address 192.0.2.1`.

    Credentials count for their address until a request with them was answered, so that
    made-up ones are one client. Safe for threads.
    """

    def __init__(self) -> None:
        self._members: OrderedDict[str, int] = OrderedDict()
        self._lock = threading.Lock()

    def identify(self, environ: Environ) -> str:
        credential = get_credential(environ)
        with self._lock:
            member_id = self._members.get(credential)
            if member_id is not None:
                self._members.move_to_end(credential)
                return name_member(member_id)
        peer = environ.get("REMOTE_ADDR", "")
        address = find_client_address(peer, environ.get("HTTP_X_FORWARDED_FOR", ""))
        return name_address(address)

    def learn(self, environ: Environ) -> None:
        """Remember whose credential it was, or that it is nobody's any more.

        Requests with a session that has ended must not count for its member.
        """
        credential = get_credential(environ)
        is_unknown = MEMBER_ID_KEY not in environ
        if is_unknown or not credential or len(credential) > MAX_CREDENTIAL_LENGTH:
            return
        member_id = environ[MEMBER_ID_KEY]
        with self._lock:
            if member_id is None:
                self._members.pop(credential, None)
                return
            self._members[credential] = member_id
            self._members.move_to_end(credential)
            if len(self._members) > MAX_KNOWN_CREDENTIALS:
                self._members.popitem(last=False)


def get_credential(environ: Environ) -> str:
    credential: str = environ.get("HTTP_AUTHORIZATION") or environ.get(
        "HTTP_COOKIE", ""
    )
    return credential


def name_member(member_id: int) -> str:
    return f"member {member_id}"


@lru_cache(maxsize=1_024)
def name_address(address: str) -> str:
    return f"address {rate_limit_key(address)}"


def is_member(client: str) -> bool:
    return client.startswith("member ")
