"""Pages of administrators with a thousand and with a million members.

Each size has its own database and server, so that both are measured in the same rounds.
The pages of Django admin are requested with a session of its login form.
"""

import http.client
import re
from http.cookies import SimpleCookie
from urllib.parse import quote, urlencode

import psycopg

from benchmarks.client import Client, Target, Timing, time_interleaved
from benchmarks.environment import BenchmarkEnvironment, ExtraDatabase
from benchmarks.report import Row, format_milliseconds, max_ratio_row
from devstack.stores.data_dir import LOOPBACK

NAME = "administration"
MEMBER_COUNTS = (1_000, 1_000_000)
MAX_GROWTH = 1.5
LOGIN_ID, PASSWORD = "administrator", "a long phrase of its own"
API_PATH, ADMIN_PATH = "/api/admin/members", "/admin/accounts/member/"
MAX_SECONDS = 1.0
# The work of these pages grows with hits, index size and sessions: they are limited by
# MAX_SECONDS instead of MAX_GROWTH.
TIME_LIMITED_PAGES = {
    "a search that finds one",
    "a search for two letters",
    "a search that finds many",
    "a search in the admin",
    "the dashboard",
}
PAGES = {
    "the list of the API": API_PATH,
    "PREMIUM members": f"{API_PATH}?plan=PREMIUM",
    "a search that finds one": f"{API_PATH}?search=m777@example",
    "a search for two letters": f"{API_PATH}?search={quote('민지')}",
    "a search that finds many": f"{API_PATH}?search=member7",
    "the list of users": "/api/users",
    "the list of the admin": ADMIN_PATH,
    "a search in the admin": f"{ADMIN_PATH}?q=m777@example",
    "a member in the admin": f"{ADMIN_PATH}77/change/",
    "the dashboard": "/admin/",
}
REPEATS = 10

_MEMBERS_SQL = """
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
_SESSIONS_SQL = """
    INSERT INTO auth_session (key_hash, member_id, plan, display_name, data, version,
        created_at, last_seen_at, expires_at, user_agent)
    SELECT encode(sha256(g::text::bytea), 'hex'), g, 'FREE', 'Member ' || g, '{}', 1,
        seen, seen, seen + interval '14 days', ''
    FROM generate_series(1, %(members)s) g,
        LATERAL (SELECT now() - g %% 20 * interval '1 day' AS seen) times
"""


def measure(environment: BenchmarkEnvironment, rounds: int) -> list[Row]:
    sizes = [max(1_000, int(size * environment.spec.scale)) for size in MEMBER_COUNTS]
    calls = {}
    for size in sizes:
        for name, target in prepare_members(environment, size).items():
            calls[f"{name} {size}"] = Client(target)
    times = time_interleaved(calls, rounds, REPEATS)
    return [page_row(name, sizes, times) for name in PAGES]


def prepare_members(
    environment: BenchmarkEnvironment, members: int
) -> dict[str, Target]:
    """Create a database of `members` with a session each; return its pages by name."""
    extra_database = environment.create_extra_database(f"members_{members}", [])
    with psycopg.connect(extra_database.url, autocommit=True) as connection:
        cursor = psycopg.ClientCursor(connection)
        for sql in (_MEMBERS_SQL, _SESSIONS_SQL):
            cursor.execute(sql, {"members": members})
        connection.execute(
            "SELECT setval(pg_get_serial_sequence('member', 'id'), %s)", [members]
        )
        connection.execute("VACUUM ANALYZE")
        connection.execute("CHECKPOINT")
    create_administrator(environment, extra_database)
    port = environment.anonymous_target_on("/", extra_database).port
    headers = {"Cookie": f"sessionid={log_in(port)}"}
    return {name: Target(port, path, headers) for name, path in PAGES.items()}


def create_administrator(
    environment: BenchmarkEnvironment, extra_database: ExtraDatabase
) -> None:
    environment.manage(
        "createsuperuser",
        "--noinput",
        **extra_database.settings,
        DJANGO_SUPERUSER_LOGIN_ID=LOGIN_ID,
        DJANGO_SUPERUSER_EMAIL="admin@example.com",
        DJANGO_SUPERUSER_PASSWORD=PASSWORD,
    )


def log_in(port: int) -> str:
    """Log in with the form of Django admin and return the session key."""
    headers, page = send_request(port, "GET", "/admin/login/", {})
    csrf_token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', page)
    cookie = f"csrftoken={get_cookie(headers, 'csrftoken')}"
    values = {
        "username": LOGIN_ID,
        "password": PASSWORD,
        "csrfmiddlewaretoken": csrf_token[1] if csrf_token else "",
    }
    headers, _ = send_request(
        port,
        "POST",
        "/admin/login/",
        {"Cookie": cookie, "Content-Type": "application/x-www-form-urlencoded"},
        urlencode(values),
    )
    return get_cookie(headers, "sessionid")


def send_request(
    port: int, method: str, path: str, headers: dict[str, str], body: str = ""
) -> tuple[http.client.HTTPMessage, str]:
    """Return the headers and the body of the response."""
    connection = http.client.HTTPConnection(LOOPBACK, port, timeout=60)
    try:
        connection.request(method, path, body, headers)
        response = connection.getresponse()
        return response.headers, response.read().decode()
    finally:
        connection.close()


def get_cookie(headers: http.client.HTTPMessage, name: str) -> str:
    """Return the value of a cookie that the response set."""
    for line in headers.get_all("Set-Cookie", []):
        if name in (cookies := SimpleCookie(line)):
            return cookies[name].value
    raise AssertionError(f"the response set no cookie {name}")


def page_row(name: str, sizes: list[int], times: dict[str, Timing]) -> Row:
    few, many = (times[f"{name} {size}"] for size in sizes)
    level = f"{format_milliseconds(few.median)}, {format_milliseconds(many.median)}"
    text = f"growth of {name}, {sizes[1]:,} : {sizes[0]:,} members"
    if name in TIME_LIMITED_PAGES:
        text = f"{name}, {sizes[1]:,} members, seconds"
        return max_ratio_row(NAME, text, level, many.median, MAX_SECONDS)
    return max_ratio_row(NAME, text, level, many.ratio_to(few), MAX_GROWTH)
