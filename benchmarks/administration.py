"""What administrators read, with a thousand members and with a million.

Each number has a database and a server of its own, so that both are asked in the same
rounds. The pages of Django admin are asked with a session of its own login form.
"""

import http.client
import re
from http.cookies import SimpleCookie
from urllib.parse import quote, urlencode

import psycopg

from benchmarks.client import Client, Target, Timing, time_in_turn
from benchmarks.environment import Beside, Stage
from benchmarks.report import Row, at_most, milliseconds
from devstack.stores.data_dir import LOOPBACK

NAME = "administration"
SIZES = (1_000, 1_000_000)
GROWTH = 1.5
LOGIN_ID, PASSWORD = "administrator", "a long phrase of its own"
API, ADMIN = "/api/admin/members", "/admin/accounts/member/"
SECONDS = 1.0
GROWING = {
    "a search that finds one",
    "a search for two letters",
    "a search that finds many",
    "a search in the admin",
    "the dashboard",
}
"""Their work grows with hits, index and sessions: they are bounded by `SECONDS`."""
PAGES = {
    "the list of the API": API,
    "PREMIUM members": f"{API}?plan=PREMIUM",
    "a search that finds one": f"{API}?search=m777@example",
    "a search for two letters": f"{API}?search={quote('민지')}",
    "a search that finds many": f"{API}?search=member7",
    "the list of users": "/api/users",
    "the list of the admin": ADMIN,
    "a search in the admin": f"{ADMIN}?q=m777@example",
    "a member in the admin": f"{ADMIN}77/change/",
    "the dashboard": "/admin/",
}
REPEATS = 10

_MEMBERS = """
    INSERT INTO member (id, login_id, password, display_name, email, provider, role,
        status, plan, plan_product, plan_auto_renew, points, idp_picture,
        profile_image, created_at)
    SELECT g, 'member' || g, '!',
        CASE WHEN g %% 10000 = 77 THEN '김민지' ELSE 'Member ' || g END,
        'm' || g || '@example.com', 'LOCAL', 'MEMBER',
        CASE WHEN g %% 1000 = 0 THEN 'SUSPENDED' ELSE 'ACTIVE' END,
        CASE WHEN g %% 20 = 0 THEN 'PREMIUM' ELSE 'FREE' END, '', false, 0, '', '',
        now() - (%(members)s - g) * interval '60 days' / %(members)s
    FROM generate_series(1, %(members)s) g
"""
_SESSIONS = """
    INSERT INTO auth_session (digest, member_id, plan, display_name, data, version,
        created_at, last_seen_at, expires_at, user_agent)
    SELECT encode(sha256(g::text::bytea), 'hex'), g, 'FREE', 'Member ' || g, '{}', 1,
        seen, seen, seen + interval '14 days', ''
    FROM generate_series(1, %(members)s) g,
        LATERAL (SELECT now() - g %% 20 * interval '1 day' AS seen) made
"""


def measure(stage: Stage, rounds: int) -> list[Row]:
    sizes = [max(1_000, int(size * stage.shape.scale)) for size in SIZES]
    calls = {}
    for size in sizes:
        for name, target in prepare(stage, size).items():
            calls[f"{name} {size}"] = Client(target)
    times = time_in_turn(calls, rounds, REPEATS)
    return [describe(name, sizes, times) for name in PAGES]


def prepare(stage: Stage, members: int) -> dict[str, Target]:
    """A database with so many members, each with a session; its pages by name."""
    beside = stage.prepare_beside(f"members_{members}", [])
    with psycopg.connect(beside.address, autocommit=True) as connection:
        cursor = psycopg.ClientCursor(connection)
        for sql in (_MEMBERS, _SESSIONS):
            cursor.execute(sql, {"members": members})
        connection.execute(
            "SELECT setval(pg_get_serial_sequence('member', 'id'), %s)", [members]
        )
        connection.execute("VACUUM ANALYZE")
        connection.execute("CHECKPOINT")
    make_administrator(stage, beside)
    port = stage.ask_beside_anonymously("/", beside).port
    headers = {"Cookie": f"sessionid={log_in(port)}"}
    return {name: Target(port, path, headers) for name, path in PAGES.items()}


def make_administrator(stage: Stage, beside: Beside) -> None:
    stage.manage(
        "createsuperuser",
        "--noinput",
        **beside.settings,
        DJANGO_SUPERUSER_LOGIN_ID=LOGIN_ID,
        DJANGO_SUPERUSER_EMAIL="admin@example.com",
        DJANGO_SUPERUSER_PASSWORD=PASSWORD,
    )


def log_in(port: int) -> str:
    """The key of a session that Django admin's own login form made."""
    form = ask(port, "GET", "/admin/login/", {})
    token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', form[1])
    cookie = f"csrftoken={read_cookie(form[0], 'csrftoken')}"
    values = {
        "username": LOGIN_ID,
        "password": PASSWORD,
        "csrfmiddlewaretoken": token[1] if token else "",
    }
    headers = {
        "Cookie": cookie,
        "Content-Type": "application/x-www-form-urlencoded",
    }
    answer = ask(port, "POST", "/admin/login/", headers, urlencode(values))
    return read_cookie(answer[0], "sessionid")


def ask(
    port: int, method: str, path: str, headers: dict[str, str], body: str = ""
) -> tuple[http.client.HTTPMessage, str]:
    connection = http.client.HTTPConnection(LOOPBACK, port, timeout=60)
    try:
        connection.request(method, path, body, headers)
        response = connection.getresponse()
        return response.headers, response.read().decode()
    finally:
        connection.close()


def read_cookie(headers: http.client.HTTPMessage, name: str) -> str:
    for line in headers.get_all("Set-Cookie", []):
        if name in (cookies := SimpleCookie(line)):
            return cookies[name].value
    raise AssertionError(f"no cookie {name} was set")


def describe(name: str, sizes: list[int], times: dict[str, Timing]) -> Row:
    few, many = (times[f"{name} {size}"] for size in sizes)
    level = f"{milliseconds(few.median)}, {milliseconds(many.median)}"
    text = f"growth of {name}, {sizes[1]:,} : {sizes[0]:,} members"
    if name in GROWING:
        text = f"{name}, {sizes[1]:,} members, seconds"
        return at_most(NAME, text, level, many.median, SECONDS)
    return at_most(NAME, text, level, many.to(few), GROWTH)
