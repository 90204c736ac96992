"""Lists of staff with a million rows each, and an action on 10,000 of them."""

import html
import re
import time
from dataclasses import replace
from http.cookies import SimpleCookie
from typing import NamedTuple
from urllib.parse import urlencode, urlsplit, urlunsplit

import psycopg

from benchmarks import administration, board
from benchmarks.client import Client, Target
from benchmarks.environment import BenchmarkEnvironment, bearer
from benchmarks.load import observe
from benchmarks.report import Row, bounded, format_milliseconds

NAME = "staff"
ROWS, MIN_ROWS, AUTHORS = 1_000_000, 1_000, 100
MAX_LIST_SECONDS, MAX_DASHBOARD_SECONDS = 0.3, 1.0
MAX_ACTION_SECONDS, MAX_OTHERS_P95 = 20.0, 0.3
POSTS, AUTHOR = "/admin/board/post/", "@member7"
LISTS = {
    "members": "/admin/accounts/member/",
    "suspended members": "/admin/accounts/member/?status__exact=SUSPENDED",
    "members, page 5": "/admin/accounts/member/?p=5",
    "posts": POSTS,
    "hidden posts": f"{POSTS}?is_hidden__exact=1",
    "posts of an author": f"{POSTS}?{urlencode({'q': AUTHOR})}",
    "comments": "/admin/board/comment/",
    "hidden comments": "/admin/board/comment/?is_hidden__exact=1",
    "queue": "/admin/board/moderationcase/",
    "log": "/admin/accounts/auditlogentry/",
    "deletions of the log": "/admin/accounts/auditlogentry/?action__exact=DELETION",
    "members of the API": "/api/admin/members",
    "cases of the API": "/api/moderation/cases",
}
DASHBOARD = "/admin/"
# The daily job, which stores the figures of past days.
STORE_FIGURES = """
from administration.tasks import snapshot_daily_metrics
snapshot_daily_metrics()
"""
REPEATS = 10
ANSWERED = range(200, 400)
OTHERS_PER_SECOND = 20
# One comment and one line of the log of a hundred stand out.
LOAD = """
    SET session_replication_role = replica;
    INSERT INTO board_comment (post_id, member_id, content, up_count, down_count,
        is_hidden, hidden_reason, created_at, updated_at)
    SELECT g, 1 + g %% %(authors)s, 'words ' || g, 0, 0, g %% 100 = 7,
        CASE WHEN g %% 100 = 7 THEN 'STAFF' END, at, at
    FROM generate_series(1, %(rows)s) g,
        LATERAL (SELECT now() - (%(rows)s - g) * interval '20 seconds' AS at) times;
    INSERT INTO board_case (kind, status, target_type, target_id, post_id, author_id,
        reason, title, content, report_count, owes_points, opened_at)
    SELECT 'REPORT', 'OPEN', 'POST', -g, -g, 1 + g %% %(authors)s, 'SPAM', 'Title',
        repeat('words ', 40), 1, false, now()
    FROM generate_series(1, %(rows)s / 10) g;
    INSERT INTO audit_log (at, actor_id, actor_name, action, target_type, target_id,
        target_label, text, request_id)
    SELECT now() - (%(rows)s - g) * interval '5 minutes', 1 + g %% 5,
        'administrator', CASE WHEN g %% 100 = 7 THEN 'DELETION' ELSE 'CHANGE' END,
        CASE WHEN g %% 3 = 0 THEN 'accounts.Member' ELSE 'board.Post' END,
        g::text, 'Post ' || g, 'Hidden: spam', ''
    FROM generate_series(1, %(rows)s) g;
"""


def measure(environment: BenchmarkEnvironment) -> list[Row]:
    rows = max(MIN_ROWS, int(ROWS * environment.spec.scale))
    port, token = prepare_rows(environment, rows)
    others = Target(port, board.PATH, bearer(token))
    session = {"Cookie": f"sessionid={administration.log_in(port)}"}
    pages = {
        name: Client(Target(port, path, session))
        for name, path in (LISTS | {"dashboard": DASHBOARD}).items()
    }
    times = environment.time(pages, REPEATS)
    found = [
        bounded(
            NAME,
            f"{name}, {rows:,} rows, seconds",
            format_milliseconds(series.median),
            series.median,
            MAX_DASHBOARD_SECONDS if name == "dashboard" else MAX_LIST_SECONDS,
        )
        for name, series in times.items()
    ]
    found += measure_action(port, session, others)
    environment.stop_server(NAME)
    return found


def prepare_rows(environment: BenchmarkEnvironment, rows: int) -> tuple[int, str]:
    """Return the port of a site with so many rows, and the session of a member."""
    port = administration.prepare_members(environment, NAME, rows)
    parts = urlsplit(environment.database_url)
    url = urlunsplit(parts._replace(path=f"/{NAME}"))
    values = {
        "posts": rows,
        "members": AUTHORS,
        "votes": 0,
        "hot": board.HOT_POSTS,
        "hot_votes": board.HOT_VOTES,
        "hidden_share": board.HIDDEN_SHARE,
    }
    with psycopg.connect(url, autocommit=True) as connection:
        cursor = psycopg.ClientCursor(connection)
        cursor.execute(board.LOAD, values)
        cursor.execute(LOAD, {"rows": rows, "authors": AUTHORS})
    environment.manage("check_board_counters", "--repair", DATABASE_URL=url)
    environment.manage("shell", "-c", STORE_FIGURES, DATABASE_URL=url)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE")
    reader = rows + 2
    return port, environment.create_members([reader], url)[reader]


def measure_action(port: int, session: dict[str, str], others: Target) -> list[Row]:
    """Hide all posts of an author, as staff do: the question, then its answer."""
    site = Target(port, LISTS["posts of an author"], session)
    client, counts = Client(site), []
    with observe([others], OTHERS_PER_SECOND) as before:
        time.sleep(2)
    started = time.monotonic()
    with observe([others], OTHERS_PER_SECOND) as beside:
        # An action ends after 20 seconds, and is repeated for the rows left.
        while (question := ask(client, site)).due:
            counts.append(question.due)
            status = client.exchange(question.answer).status
            if status not in ANSWERED:
                raise AssertionError(f"the action was answered {status}")
    seconds = time.monotonic() - started
    count = max(counts, default=0)
    level = f"{seconds:.1f} s, calls: {len(counts)}"
    name = f"an action on {count:,} posts, seconds"
    p95 = "others beside the action, p95 in seconds"
    return [
        bounded(NAME, name, level, seconds, MAX_ACTION_SECONDS),
        bounded(NAME, "others before the action, p95", str(before), before.p95),
        bounded(NAME, p95, str(beside), beside.p95, MAX_OTHERS_P95),
    ]


class Question(NamedTuple):
    """How many rows an action would change, and the request that does it."""

    due: int
    answer: Target


def ask(client: Client, site: Target) -> Question:
    page = client.send(site)
    token = find(rb'name="csrfmiddlewaretoken" value="(\w+)"', page.body)
    cookie = SimpleCookie("; ".join(page.cookies))["csrftoken"].value
    headers = {"Cookie": f"{site.headers['Cookie']}; csrftoken={cookie}"}
    fields = {
        "csrfmiddlewaretoken": token,
        "action": "hide",
        "select_across": "1",
        "_selected_action": find(rb'name="_selected_action" value="(\d+)"', page.body),
    }
    form = replace(site, headers=headers)
    question = client.send(submit(form, fields)).body
    due = find(rb'value="[^"]*\(([\d,]+)\)">', question)
    hidden = re.findall(rb'<input type="hidden" name="(\w+)" value="([^"]*)"', question)
    fields = {name.decode(): html.unescape(value.decode()) for name, value in hidden}
    answer = submit(form, fields | {"reason": "SPAM"})
    return Question(int(due.replace(",", "")), answer)


def submit(site: Target, fields: dict[str, str]) -> Target:
    return site.sending_raw(urlencode(fields), "application/x-www-form-urlencoded")


def find(pattern: bytes, page: bytes) -> str:
    match = re.search(pattern, page)
    if match is None:
        raise AssertionError(f"the page has no {pattern!r}")
    return match[1].decode()
