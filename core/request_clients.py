"""Clients of the web server: a member with all sessions and tokens, else an address.

Each process learns the member of a session key from its first answered request.
"""

import threading
from collections import OrderedDict
from functools import lru_cache
from typing import Any

from core.client_ip import find_client_address, rate_limit_key
from core.session_keys import find_session_key

# The environment's key of the member whose session it is, None if it is nobody's.
# Authentication sets it.
MEMBER_ID_KEY = "household_ledger.member_id"
MAX_KNOWN_KEYS = 10_000
# Session keys and tokens are shorter.
MAX_KEY_LENGTH = 200

Environ = dict[str, Any]


class RequestClients:
    """Names the client of a request: `member 5` or `address 192.0.2.1`.

    A session key counts for its address until a request with it was answered: all
    made-up keys of an address are one client. Requests without a key are another
    client, so that a flood of logins does not delay the first answer to a member.

    Safe for threads.
    """

    def __init__(self) -> None:
        # By session key.
        self._members: OrderedDict[str, int] = OrderedDict()
        self._lock = threading.Lock()

    def identify(self, environ: Environ) -> str:
        presented = find_session_key(environ)
        if presented is not None:
            with self._lock:
                member_id = self._members.get(presented.key)
                if member_id is not None:
                    self._members.move_to_end(presented.key)
                    return name_member(member_id)
        peer = environ.get("REMOTE_ADDR", "")
        address = find_client_address(peer, environ.get("HTTP_X_FORWARDED_FOR", ""))
        name = name_address(address)
        return name if presented is None else f"{name} with keys"

    def learn(self, environ: Environ) -> None:
        """Remember whose key it was, or that it is nobody's any more.

        Requests with a session that has ended must not count for its member.
        """
        if MEMBER_ID_KEY not in environ:
            return
        presented = find_session_key(environ)
        if presented is None or len(presented.key) > MAX_KEY_LENGTH:
            return
        key, member_id = presented.key, environ[MEMBER_ID_KEY]
        with self._lock:
            if member_id is None:
                self._members.pop(key, None)
                return
            self._members[key] = member_id
            self._members.move_to_end(key)
            if len(self._members) > MAX_KNOWN_KEYS:
                self._members.popitem(last=False)


def name_member(member_id: int) -> str:
    return f"member {member_id}"


@lru_cache(maxsize=1_024)
def name_address(address: str) -> str:
    return f"address {rate_limit_key(address)}"


def is_member(client: str) -> bool:
    return client.startswith("member ")
