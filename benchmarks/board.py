"""The post list of the board: the first page and deep pages as the board grows.

Each size has its own database and server, so that all are measured in the same rounds.
The peers have the sessions, the connection pool and the server of the service
(`benchmarks.baseline.board_views`): a DRF viewset with page numbers and COUNT(*), with
joined authors and an index for its order, and a view with one SQL statement and orjson.
"""

import json

import psycopg

from benchmarks.client import Client, Timing, time_interleaved
from benchmarks.environment import BenchmarkEnvironment, ExtraDatabase
from benchmarks.load import load_interleaved
from benchmarks.report import Row, format_milliseconds, max_ratio_row, min_ratio_row
from benchmarks.sessions import PATH as TRIVIAL

NAME = "board"
PATH = "/api/board/posts"
DRF_PATH, ONE_SQL_PATH = "/posts", "/one-sql"
PEERS = {"baseline": "DRF page numbers", "one SQL": "one SQL + orjson"}
BOARD_SIZES = (1_000, 100_000, 1_000_000)
# With fewer posts, COUNT(*) costs little.
SMALL_BOARD = 50_000
READER_ID, MEMBERS = 7, 200
# At all sizes but the largest, which would take too long to load.
COMMENTS_PER_POST, VOTES_PER_POST = 10, 20
# The newest posts get many up votes, enough to be listed as hot.
HOT_POSTS, HOT_VOTES = 10, 60
REPEATS, LOAD_DURATION_SECONDS = 30, 3

# Without triggers, foreign key checks and GIN maintenance: loading takes minutes with
# them. `check_board_counters --repair` sets the counters afterwards.
_BEFORE_LOAD_SQL = """
    SET session_replication_role = replica;
    DROP INDEX board_post_search_text, board_post_tags;
"""
_POSTS_SQL = """
    INSERT INTO board_post (id, member_id, category, title, content, search_text, tags,
        is_notice, is_hidden, up_count, down_count, comment_count,
        created_at, updated_at)
    SELECT g, 1 + g * 31 %% %(members)s,
        (ARRAY['community', 'saving', 'tips'])[1 + g %% 3],
        'Title of post ' || g, repeat('lorem ipsum dolor ', 40),
        'title of post ' || g || repeat(' lorem ipsum dolor', 40),
        ARRAY['tag ' || g %% 50], g %% (%(posts)s / 4) = 1, false, 0, 0, 0, at, at
    FROM generate_series(1, %(posts)s) g,
        LATERAL (SELECT now() - (%(posts)s - g) * interval '20 seconds' AS at) times
"""
_COMMENTS_SQL = """
    INSERT INTO board_comment (post_id, member_id, content, is_hidden, up_count,
        down_count, created_at, updated_at)
    SELECT 1 + g %% %(posts)s, 1 + g * 17 %% %(members)s, 'Comment ' || g, false, 0, 0,
        now(), now()
    FROM generate_series(1, %(comments)s) g
"""
_VOTES_SQL = """
    INSERT INTO board_post_vote (post_id, member_id, value, created_at)
    SELECT 1 + g %% (%(posts)s - %(hot)s), 1 + (g + g / %(posts)s) %% %(members)s,
        CASE WHEN g %% 9 = 0 THEN -1 ELSE 1 END, now()
    FROM generate_series(1, %(votes)s) g
    ON CONFLICT DO NOTHING
"""
_HOT_VOTES_SQL = """
    INSERT INTO board_post_vote (post_id, member_id, value, created_at)
    SELECT %(posts)s - g %% %(hot)s, 1 + g / %(hot)s, 1, now()
    FROM generate_series(0, %(hot)s * (%(hot_votes)s + %(hot)s) - 1) g
    WHERE g / %(hot)s < %(hot_votes)s + g %% %(hot)s
    ON CONFLICT DO NOTHING
"""
_AFTER_LOAD_SQL = """
    CREATE INDEX board_post_search_text ON board_post
        USING gin (search_text gin_trgm_ops);
    CREATE INDEX board_post_tags ON board_post USING gin (tags);
    CREATE INDEX for_the_baseline ON board_post (is_notice DESC, id DESC)
        WHERE NOT is_hidden;
    SELECT setval(pg_get_serial_sequence('board_post', 'id'), %(posts)s);
"""


def measure(environment: BenchmarkEnvironment, rounds: int) -> list[Row]:
    sizes = [max(200, int(size * environment.spec.scale)) for size in BOARD_SIZES]
    boards = {
        size: prepare_board(environment, size, full=size != sizes[-1]) for size in sizes
    }
    times = time_one_client(environment, boards, rounds)
    rows = [row for size in sizes for row in size_rows(size, times)]
    rows += growth_rows(sizes[0], sizes[-1], times)
    for size in sizes[:-1]:
        rows += measure_load(environment, boards[size], size, rounds)
    return rows


def prepare_board(
    environment: BenchmarkEnvironment, posts: int, *, full: bool
) -> ExtraDatabase:
    """Create a database with `posts` posts; `full` adds comments and votes."""
    extra_database = environment.create_extra_database(
        f"board_{posts}", range(1, MEMBERS + 1)
    )
    values = {
        "posts": posts,
        "members": MEMBERS,
        "hot": HOT_POSTS,
        "hot_votes": HOT_VOTES,
        "comments": COMMENTS_PER_POST * posts,
        "votes": VOTES_PER_POST * posts,
    }
    with psycopg.connect(extra_database.url, autocommit=True) as connection:
        connection.execute(_BEFORE_LOAD_SQL)
        cursor = psycopg.ClientCursor(connection)
        for sql in (
            _POSTS_SQL,
            *((_COMMENTS_SQL, _VOTES_SQL) if full else ()),
            _HOT_VOTES_SQL,
        ):
            cursor.execute(sql, values)
        cursor.execute(_AFTER_LOAD_SQL, values)
    environment.manage("check_board_counters", "--repair", **extra_database.settings)
    with psycopg.connect(extra_database.url, autocommit=True) as connection:
        connection.execute("VACUUM FULL board_post")
        connection.execute("VACUUM ANALYZE")
        connection.execute("CHECKPOINT")
    check_responses(environment, extra_database, posts)
    return extra_database


def check_responses(
    environment: BenchmarkEnvironment, extra_database: ExtraDatabase, posts: int
) -> None:
    """Raise AssertionError unless three hot posts, then notices, lead a right count."""
    first = json.loads(
        Client(environment.service_target_on(PATH, extra_database, READER_ID))()
    )
    baseline, one_sql = (
        json.loads(
            Client(environment.peer_target_on(path, extra_database, READER_ID))()
        )
        for path in (DRF_PATH, ONE_SQL_PATH)
    )
    ids = [post["id"] for post in first["results"]]
    flags = [(post["hot"], post["notice"]) for post in first["results"][:4]]
    hottest = [posts - HOT_POSTS + 1 + n for n in range(3)]
    if (
        (first["count"], baseline["count"]) != (posts, posts)
        or ids[:3] != hottest
        or flags != [(True, False)] * 3 + [(False, True)]
        or len(ids) != len(baseline["results"])
        or len(ids) != len(set(ids))
        or any(
            post.keys() != first["results"][0].keys() for post in baseline["results"]
        )
        or (one_sql["count"], one_sql["results"]) != (first["count"], first["results"])
    ):
        raise AssertionError(f"unexpected first page of the board with {posts} posts")


def time_one_client(
    environment: BenchmarkEnvironment, boards: dict[int, ExtraDatabase], rounds: int
) -> dict[str, Timing]:
    """Time all lists of all sizes in each round, and T on the same servers."""
    calls = {}
    for size, extra_database in boards.items():
        for name, path in (
            ("T", TRIVIAL),
            ("page 1", PATH),
            ("category", f"{PATH}?category=tips"),
            ("by key", f"{PATH}?before={size // 2}"),
            ("by number", f"{PATH}?page={size // 40}"),
        ):
            calls[f"{name} {size}"] = Client(
                environment.service_target_on(path, extra_database, READER_ID)
            )
        for name, path in (("baseline", DRF_PATH), ("one SQL", ONE_SQL_PATH)):
            peer = environment.peer_target_on(path, extra_database, READER_ID)
            calls[f"{name} {size}"] = Client(peer)
    return time_interleaved(calls, rounds, REPEATS)


def size_rows(size: int, times: dict[str, Timing]) -> list[Row]:
    def timing(name: str) -> Timing:
        return times[f"{name} {size}"]

    first, size_text = timing("page 1"), f"{size:,} posts"
    trivial = timing("T")
    level = (
        f"T {format_milliseconds(trivial.median)}, {format_milliseconds(first.median)}"
    )
    rows = [
        max_ratio_row(
            NAME, f"page 1 : T, {size_text}", level, first.ratio_to(trivial), 3
        )
    ]
    for name in ("category", "by number", "baseline", "one SQL"):
        text = PEERS.get(name, name)
        level = format_milliseconds(timing(name).median)
        rows.append(
            Row(
                NAME,
                f"{text} : page 1, {size_text}",
                level,
                timing(name).ratio_to(first),
            )
        )
    level, ratio = (
        format_milliseconds(timing("by key").median),
        timing("by key").ratio_to(first),
    )
    rows.append(
        max_ratio_row(NAME, f"deep by key : page 1, {size_text}", level, ratio, 1.2)
    )
    return rows


def growth_rows(small: int, large: int, times: dict[str, Timing]) -> list[Row]:
    rows = []
    for name, maximum in (("page 1", 1.3), ("category", 1.3), ("by key", 1.3)):
        few, many = times[f"{name} {small}"], times[f"{name} {large}"]
        level = f"{format_milliseconds(few.median)}, {format_milliseconds(many.median)}"
        text = f"growth of {name}, {large:,} : {small:,} posts"
        rows.append(max_ratio_row(NAME, text, level, many.ratio_to(few), maximum))
    few, many = times[f"baseline {small}"], times[f"baseline {large}"]
    level = f"{format_milliseconds(few.median)}, {format_milliseconds(many.median)}"
    text = f"growth of DRF page numbers, {large:,} : {small:,} posts"
    return [*rows, Row(NAME, text, level, many.ratio_to(few))]


def measure_load(
    environment: BenchmarkEnvironment,
    extra_database: ExtraDatabase,
    size: int,
    rounds: int,
) -> list[Row]:
    """Measure eight connections at once; the targets are lower on a small board."""
    targets = {
        "service": environment.service_target_on(PATH, extra_database, READER_ID)
    }
    for name, path in (("baseline", DRF_PATH), ("one SQL", ONE_SQL_PATH)):
        targets[name] = environment.peer_target_on(path, extra_database, READER_ID)
    loads = load_interleaved(targets, rounds, LOAD_DURATION_SECONDS)
    service = loads["service"]
    return [
        min_ratio_row(
            NAME,
            f"page 1 : {PEERS[name]}, {size:,} posts, 8 connections",
            f"{service.summary()} : {loads[name].summary()}",
            service.ratio_to(loads[name]),
            minimum,
        )
        for name, minimum in (
            ("baseline", 2 if size < SMALL_BOARD else 6),
            ("one SQL", 1),
        )
    ]
