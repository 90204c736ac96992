"""The board's list: its first page and deep ones as the board grows.

Each size has a database and a server of its own, so that all are asked in the same
rounds. The peer is what a DRF tutorial has, page numbers over a counted query, with the
index that its order asks for.
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
BOARD_SIZES = (1_000, 100_000, 1_000_000)
READER_ID, MEMBERS = 7, 200
COMMENTS_PER_POST, VOTES_PER_POST = 10, 20
"""Of each post, at all sizes but the largest."""
HOT_POSTS, HOT_VOTES = 10, 60
"""The newest posts, and the up votes of each."""
REPEATS, LOAD_DURATION_SECONDS = 30, 3

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
        LATERAL (SELECT now() - (%(posts)s - g) * interval '20 seconds' AS at) made
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
    CREATE INDEX for_the_peer ON board_post (is_notice DESC, id DESC)
        WHERE NOT is_hidden;
    SELECT setval(pg_get_serial_sequence('board_post', 'id'), %(posts)s);
"""


def measure(stage: BenchmarkEnvironment, rounds: int) -> list[Row]:
    sizes = [max(200, int(size * stage.dataset_spec.scale)) for size in BOARD_SIZES]
    boards = {
        size: prepare_board(stage, size, full=size != sizes[-1]) for size in sizes
    }
    times = time_one_client(stage, boards, rounds)
    rows = [row for size in sizes for row in size_rows(size, times)]
    rows += growth_rows(sizes[0], sizes[-1], times)
    for size in sizes[:-1]:
        rows.append(measure_load(stage, boards[size], size, rounds))
    return rows


def prepare_board(
    stage: BenchmarkEnvironment, posts: int, *, full: bool
) -> ExtraDatabase:
    """A database with so many posts, and what stands below them."""
    beside = stage.create_extra_database(f"board_{posts}", range(1, MEMBERS + 1))
    values = {
        "posts": posts,
        "members": MEMBERS,
        "hot": HOT_POSTS,
        "hot_votes": HOT_VOTES,
        "comments": COMMENTS_PER_POST * posts,
        "votes": VOTES_PER_POST * posts,
    }
    with psycopg.connect(beside.address, autocommit=True) as connection:
        connection.execute(_BEFORE_LOAD_SQL)
        cursor = psycopg.ClientCursor(connection)
        for sql in (
            _POSTS_SQL,
            *((_COMMENTS_SQL, _VOTES_SQL) if full else ()),
            _HOT_VOTES_SQL,
        ):
            cursor.execute(sql, values)
        cursor.execute(_AFTER_LOAD_SQL, values)
    stage.manage("check_board_counters", "--repair", **beside.settings)
    with psycopg.connect(beside.address, autocommit=True) as connection:
        connection.execute("VACUUM FULL board_post")
        connection.execute("VACUUM ANALYZE")
        connection.execute("CHECKPOINT")
    check_responses(stage, beside, posts)
    return beside


def check_responses(
    stage: BenchmarkEnvironment, beside: ExtraDatabase, posts: int
) -> None:
    """The hottest three stand on top, the notices follow, the count is right."""
    first = json.loads(Client(stage.service_target_on(PATH, beside, READER_ID))())
    peer = json.loads(Client(stage.baseline_target_on("/posts", beside, READER_ID))())
    found = [post["id"] for post in first["results"]]
    marks = [(post["hot"], post["notice"]) for post in first["results"][:4]]
    hottest = [posts - HOT_POSTS + 1 + n for n in range(3)]
    if (
        (first["count"], peer["count"]) != (posts, posts)
        or found[:3] != hottest
        or marks != [(True, False)] * 3 + [(False, True)]
        or len(found) != len(peer["results"]) != len(set(found))
    ):
        raise AssertionError(f"the board of {posts} posts is not what it should be")


def time_one_client(
    stage: BenchmarkEnvironment, boards: dict[int, ExtraDatabase], rounds: int
) -> dict[str, Timing]:
    """Every list of every size in each round, beside T of the same server."""
    calls = {}
    for size, beside in boards.items():
        for name, path in (
            ("T", TRIVIAL),
            ("page 1", PATH),
            ("category", f"{PATH}?category=tips"),
            ("by key", f"{PATH}?before={size // 2}"),
            ("by number", f"{PATH}?page={size // 40}"),
        ):
            calls[f"{name} {size}"] = Client(
                stage.service_target_on(path, beside, READER_ID)
            )
        peer = stage.baseline_target_on("/posts", beside, READER_ID)
        calls[f"peer {size}"] = Client(peer)
    return time_interleaved(calls, rounds, REPEATS)


def size_rows(size: int, times: dict[str, Timing]) -> list[Row]:
    def of(name: str) -> Timing:
        return times[f"{name} {size}"]

    first, where = of("page 1"), f"{size:,} posts"
    level = (
        f"T {format_milliseconds(of('T').median)}, {format_milliseconds(first.median)}"
    )
    rows = [
        max_ratio_row(NAME, f"page 1 : T, {where}", level, first.ratio_to(of("T")), 3)
    ]
    for name in ("category", "by number", "peer"):
        text = "DRF page numbers" if name == "peer" else name
        level = format_milliseconds(of(name).median)
        rows.append(
            Row(NAME, f"{text} : page 1, {where}", level, of(name).ratio_to(first))
        )
    level, ratio = (
        format_milliseconds(of("by key").median),
        of("by key").ratio_to(first),
    )
    rows.append(
        max_ratio_row(NAME, f"deep by key : page 1, {where}", level, ratio, 1.2)
    )
    return rows


def growth_rows(small: int, large: int, times: dict[str, Timing]) -> list[Row]:
    rows = []
    for name, most in (("page 1", 1.3), ("category", 1.3), ("by key", 1.3)):
        few, many = times[f"{name} {small}"], times[f"{name} {large}"]
        level = f"{format_milliseconds(few.median)}, {format_milliseconds(many.median)}"
        text = f"growth of {name}, {large:,} : {small:,} posts"
        rows.append(max_ratio_row(NAME, text, level, many.ratio_to(few), most))
    few, many = times[f"peer {small}"], times[f"peer {large}"]
    level = f"{format_milliseconds(few.median)}, {format_milliseconds(many.median)}"
    text = f"growth of DRF page numbers, {large:,} : {small:,} posts"
    return [*rows, Row(NAME, text, level, many.ratio_to(few))]


def measure_load(
    stage: BenchmarkEnvironment, beside: ExtraDatabase, size: int, rounds: int
) -> Row:
    """Eight connections at once; the target is lower on a small board."""
    loads = load_interleaved(
        {
            "ours": stage.service_target_on(PATH, beside, READER_ID),
            "peer": stage.baseline_target_on("/posts", beside, READER_ID),
        },
        rounds,
        LOAD_DURATION_SECONDS,
    )
    ours, peer = loads["ours"], loads["peer"]
    level = f"{ours.summary()} : {peer.summary()}"
    text = f"page 1 : DRF page numbers, {size:,} posts, 8 connections"
    return min_ratio_row(
        NAME, text, level, ours.ratio_to(peer), 2 if size < 50_000 else 5
    )
