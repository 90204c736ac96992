"""Pages of administrators with a thousand and with a million members."""

import re
from http.cookies import SimpleCookie
from urllib.parse import quote, urlencode

import psycopg

from benchmarks.client import Client, Target
from benchmarks.environment import SERVICE_COMMAND, BenchmarkEnvironment
from benchmarks.report import Row, bounded, compare, format_milliseconds

NAME = "administration"
SIZES, MIN_MEMBERS = (1_000, 1_000_000), 100
MAX_SECONDS = 1.0
LOGIN_ID, PASSWORD = "administrator", "a long phrase of its own"
API, ADMIN = "/api/admin/members", "/admin/accounts/member/"
PAGES = {
    "the list of the API": API,
    "PREMIUM members": f"{API}?plan=PREMIUM",
    "the list of users": "/api/users",
    "the list of the admin": ADMIN,
    "a member in the admin": f"{ADMIN}77/change/",
}
# The work of these pages grows with hits and sessions: only their time is bounded.
GROWING_PAGES = {
    "a search that finds one": f"{API}?search=m777@example",
    "a search for two letters": f"{API}?search={quote('민지')}",
    "a search that finds many": f"{API}?search=member7",
    "a search in the admin": f"{ADMIN}?q=m777@example",
    "the dashboard": "/admin/",
}
REPEATS = 10
LOAD = """
    INSERT INTO member (id, login_id, password, display_name, email,
        authenticated_email, verified_email, pending_email, provider, role, status,
        plan, plan_product, plan_auto_renew, points, idp_picture, profile_image,
        locale, has_second_factor, created_at)
    SELECT g, 'member' || g, '!',
        CASE WHEN g %% 10000 = 77 THEN '김민지' ELSE 'Member ' || g END,
        'm' || g || '@example.com', '', '', '', 'LOCAL', 'MEMBER',
        CASE WHEN g %% 1000 = 0 THEN 'SUSPENDED' ELSE 'ACTIVE' END,
        CASE WHEN g %% 20 = 0 THEN 'PREMIUM' ELSE 'FREE' END, '', false, 0, '', '',
        'en', false,
        now() - (%(members)s - g) * interval '60 days' / %(members)s
    FROM generate_series(1, %(members)s) g;
    INSERT INTO auth_session (key_hash, member_id, plan, display_name, data, version,
        created_at, last_seen_at, expires_at, user_agent)
    SELECT encode(sha256(g::text::bytea), 'hex'), g, 'FREE', 'Member ' || g, '{}', 1,
        seen, seen, seen + interval '14 days', ''
    FROM generate_series(1, %(members)s) g,
        LATERAL (SELECT now() - g %% 20 * interval '1 day' AS seen) times;
    SELECT setval(pg_get_serial_sequence('member', 'id'), %(members)s);
"""


def measure(environment: BenchmarkEnvironment) -> list[Row]:
    scale = environment.spec.scale
    sizes = [max(MIN_MEMBERS, int(size * scale)) for size in SIZES]
    calls = {}
    for name, size in zip(("few", "many"), sizes, strict=True):
        port = prepare_members(environment, f"members_{name}", size)
        headers = {"Cookie": f"sessionid={log_in(port)}"}
        for page, path in (PAGES | GROWING_PAGES).items():
            calls[f"{page}, {name}"] = Client(Target(port, path, headers))
    times = environment.time(calls, REPEATS)
    few, many = (f"{size:,} members" for size in sizes)
    rows = [
        (f"growth of {page}, {many} : {few}", f"{page}, many", [f"{page}, few"], 1.5)
        for page in PAGES
    ]
    for name in ("members_few", "members_many"):
        environment.stop_server(name)
    return compare(NAME, times, rows) + [
        bounded(
            NAME,
            f"{page}, {many}, seconds",
            format_milliseconds(times[f"{page}, many"].median),
            times[f"{page}, many"].median,
            MAX_SECONDS,
        )
        for page in GROWING_PAGES
    ]


def prepare_members(environment: BenchmarkEnvironment, name: str, members: int) -> int:
    """Return the port of a site with so many members and an administrator."""
    url = environment.create_database(name)
    with psycopg.connect(url, autocommit=True) as connection:
        psycopg.ClientCursor(connection).execute(LOAD, {"members": members})
        connection.execute("VACUUM ANALYZE")
        connection.execute("CHECKPOINT")
    environment.manage(
        "createsuperuser",
        "--noinput",
        DATABASE_URL=url,
        DJANGO_SUPERUSER_LOGIN_ID=LOGIN_ID,
        DJANGO_SUPERUSER_EMAIL="admin@example.com",
        DJANGO_SUPERUSER_PASSWORD=PASSWORD,
    )
    return environment.serve(name, SERVICE_COMMAND, DATABASE_URL=url)


def log_in(port: int) -> str:
    """Return the session key."""
    form = Target(port, "/admin/login/", {})
    client = Client(form)
    page = client.send(form)
    token = re.search(rb'name="csrfmiddlewaretoken" value="(\w+)"', page.body)
    values = {
        "username": LOGIN_ID,
        "password": PASSWORD,
        "csrfmiddlewaretoken": token[1].decode() if token else "",
    }
    cookies = SimpleCookie("; ".join(page.cookies))
    headers = {"Cookie": f"csrftoken={cookies['csrftoken'].value}"}
    target = Target(port, form.path, headers).sending_raw(
        urlencode(values), "application/x-www-form-urlencoded"
    )
    for line in client.exchange(target).cookies:
        if "sessionid" in (cookies := SimpleCookie(line)):
            return cookies["sessionid"].value
    raise AssertionError("the login form set no session")
