"""The victim of a takeover, what the intruder has, and the table of scenarios."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from accounts.models import AuthSession, Member
from tests.support.accounts import PROFILE
from tests.support.clients import JSONClient
from tests.support.id_tokens import encode_id_token as encode
from tests.support.id_tokens import good_claims

OWN_ADDRESS = "intruder@evil.example"
OWN_PASSWORD = "intruders-horse-9"
ME = "/api/auth/session"


@dataclass
class Scene:
    """The victim, and what the intruder has gathered."""

    victim: Member
    vouch: Callable[..., str]
    passwords: list[str] = field(default_factory=lambda: [OWN_PASSWORD])
    # Claims and header of ID tokens; the provider vouches for those without a header.
    identities: list[tuple[dict[str, Any], Any]] = field(default_factory=list)
    login_ids: list[str] = field(default_factory=list)
    tokens: list[str] = field(default_factory=list)
    days: float = 0

    def have_identity(self, header: Any = None, **claims: Any) -> None:
        self.identities.append(({"sub": "intruder"} | claims, header))

    def steal_session(self) -> JSONClient:
        """Return a client with a session whose login was long ago."""
        client = JSONClient(self.victim)
        AuthSession.objects.update(fresh_until=None, factor_fresh_until=None)
        assert client.send("GET", ME).status_code == 200
        self.tokens.append(client.token)
        return client

    def set_victim(self, **fields: Any) -> None:
        if "email" in fields:
            # As the member writes it, with fresh authentication.
            fields["authenticated_email"] = fields["email"]
        Member.objects.filter(pk=self.victim.pk).update(**fields)
        self.victim.refresh_from_db()

    def try_ways_in(self) -> Iterator[Any]:
        """Send whatever may open the account; yield the responses."""
        for login_id in [self.victim.login_id, *self.login_ids]:
            for password in self.passwords:
                body = {"loginId": login_id, "password": password}
                yield JSONClient().send("POST", "/api/auth/login", body)
        for claims, header in self.identities:
            token = self.vouch(**claims)
            if header is not None:
                token = encode(header, good_claims(claims))
            yield JSONClient().send("POST", "/api/auth/idp", {"idToken": token})
        for token in self.tokens:
            client = JSONClient()
            client.use_token(token)
            yield client.send("GET", PROFILE)
            browser = JSONClient()
            browser.cookies["sessionid"] = token
            yield browser.send("GET", PROFILE)


Scenario = Callable[[Scene], None]
SCENARIOS: dict[str, tuple[str, Scenario]] = {}


def scenario(name: str, roles: str = "MEMBER ADMIN") -> Callable[[Scenario], Scenario]:
    """Add a scenario, with a victim of each of the roles."""

    def add(function: Scenario) -> Scenario:
        for role in roles.split():
            SCENARIOS[f"{name}, {role.lower()}"] = (role, function)
        return function

    return add
