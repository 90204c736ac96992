"""Lists of the board, its queue and the inbox as the board grows."""

import psycopg

from benchmarks.client import Client, Target, get_json
from benchmarks.environment import (
    SERVICE_COMMAND,
    TRIVIAL_PATH,
    BenchmarkEnvironment,
    bearer,
)
from benchmarks.report import Row, compare

NAME = "board"
PATH = "/api/board/posts"
SIZES, MIN_POSTS = (1_000, 1_000_000), 200
READER, MEMBERS = 7, 100
# A reader who has blocked half of the authors, and members who write nothing.
BLOCKER, BLOCKS = 8, 1_000
BLOCK = """
    INSERT INTO member_block (member_id, blocked_id, created_at)
    SELECT %(blocker)s, id, now() FROM member
    WHERE id <> %(blocker)s AND (id %% 2 = 0 OR id > %(authors)s)
    ORDER BY id LIMIT %(blocks)s
"""
# Who decides about cases, of which there are many, and who is told a lot.
MODERATOR, CASES, ITEMS, UNREAD = 9, 100_000, 100_000, 500
# Of a post with comments alone, and of one where every other is a reply.
FLAT, THREADED, COMMENTS = 5, 6, 1_000
# One post of a hundred is hidden.
HIDDEN_SHARE = 100
MODERATION = """
    UPDATE member SET role = 'MODERATOR' WHERE id = %(moderator)s;
    INSERT INTO board_comment (post_id, member_id, parent_id, reply_to_id, content,
        up_count, down_count, is_hidden, created_at, updated_at)
    SELECT post, 1 + g %% %(members)s, NULL, NULL, repeat('words ', 10), 0, 0, false,
        now(), now()
    FROM unnest(ARRAY[%(flat)s, %(threaded)s]) post, generate_series(1, %(comments)s) g
    ORDER BY post, g;
    UPDATE board_comment SET parent_id = id - 1, reply_to_id = id - 1
    WHERE post_id = %(threaded)s AND id %% 2 = 0;
    INSERT INTO board_case (kind, status, target_type, target_id, post_id, author_id,
        reason, title, content, report_count, owes_points, opened_at)
    SELECT 'REPORT', 'OPEN', 'POST', -g, -g, 1 + g %% %(members)s, 'SPAM', 'Title',
        repeat('words ', 40), 1, false, now()
    FROM generate_series(1, %(cases)s) g;
    INSERT INTO inbox_item (member_id, kind, target_type, target_id, actor_id, at)
    SELECT CASE WHEN g <= %(unread)s THEN %(reader)s ELSE 10 + g %% 80 END, 'COMMENT',
        'POST', g, 1 + g %% 5, now()
    FROM generate_series(1, %(items)s) g;
"""
# Enough up votes to be listed as hot.
VOTES_PER_POST, HOT_POSTS, HOT_VOTES = 2, 10, 60
REPEATS = 30
# Loading takes minutes with triggers, foreign key checks and GIN maintenance.
# `check_board_counters --repair` sets the counters afterwards.
LOAD = """
    SET session_replication_role = replica;
    DROP INDEX board_post_search_text, board_post_tags;
    INSERT INTO board_post (id, member_id, category, title, content, search_text, tags,
        is_notice, is_hidden, hidden_reason, up_count, down_count, comment_count,
        created_at, updated_at)
    SELECT g, 1 + g * 31 %% %(members)s,
        (ARRAY['community', 'saving', 'tips'])[1 + g %% 3],
        'Title of post ' || g, repeat('lorem ipsum dolor ', 40),
        'title of post ' || g || repeat(' lorem ipsum dolor', 40),
        ARRAY['tag ' || g %% 50], g %% (%(posts)s / 4) = 1,
        g %% %(hidden_share)s = 37,
        CASE WHEN g %% %(hidden_share)s = 37 THEN 'STAFF' END,
        0, 0, 0, at, at
    FROM generate_series(1, %(posts)s) g,
        LATERAL (SELECT now() - (%(posts)s - g) * interval '20 seconds' AS at) times;
    INSERT INTO board_post_vote (post_id, member_id, value, created_at)
    SELECT 1 + g %% (%(posts)s - %(hot)s), 1 + (g + g / %(posts)s) %% %(members)s,
        CASE WHEN g %% 9 = 0 THEN -1 ELSE 1 END, now()
    FROM generate_series(1, %(votes)s) g
    ON CONFLICT DO NOTHING;
    INSERT INTO board_post_vote (post_id, member_id, value, created_at)
    SELECT %(posts)s - g %% %(hot)s, 1 + g / %(hot)s, 1, now()
    FROM generate_series(0, %(hot)s * (%(hot_votes)s + %(hot)s) - 1) g
    WHERE g / %(hot)s < %(hot_votes)s + g %% %(hot)s
    ON CONFLICT DO NOTHING;
    CREATE INDEX board_post_search_text ON board_post
        USING gin (search_text gin_trgm_ops);
    CREATE INDEX board_post_tags ON board_post USING gin (tags);
    SELECT setval(pg_get_serial_sequence('board_post', 'id'), %(posts)s);
"""


def measure(environment: BenchmarkEnvironment) -> list[Row]:
    scale = environment.spec.scale
    small, large = (max(MIN_POSTS, int(size * scale)) for size in SIZES)
    if large == small:
        large *= 2
    targets = {
        name: prepare_board(environment, name, posts)
        for name, posts in (("small", small), ("large", large))
    }
    check_responses(targets["large"], large)
    calls = {
        f"{name}, {board}": Client(target)
        for board, names in targets.items()
        for name, target in names.items()
    }
    times = environment.time(calls, REPEATS)
    rows: list[tuple[str, str, list[str], float | None]] = [
        (f"{name} : {other}, {large:,} posts", f"{name}, large", [f"{other}, large"], m)
        for name, other, m in (
            ("page 1", "T", 3),
            ("by key", "page 1", 1.2),
            ("category", "page 1", None),
            ("by number", "page 1", None),
            ("blanked", "page 1", 1.05),
            ("replies", "comments", 1.1),
            ("inbox count", "T", 1.3),
            ("inbox", "T", None),
            ("queue", "inbox count", 2),
        )
    ]
    for name in ("page 1", "category", "by key"):
        text = f"growth of {name}, {large:,} : {small:,} posts"
        rows.append((text, f"{name}, large", [f"{name}, small"], 1.3))
    for server in targets:
        environment.stop_server(server)
    return compare(NAME, times, rows)


def prepare_board(
    environment: BenchmarkEnvironment, name: str, posts: int
) -> dict[str, Target]:
    """Return requests of the reader of a new database with so many posts."""
    url = environment.create_database(name)
    tokens = environment.create_members(range(1, MEMBERS + BLOCKS + 1), url)
    values = {
        "posts": posts,
        "members": MEMBERS,
        "votes": VOTES_PER_POST * posts,
        "hot": HOT_POSTS,
        "hot_votes": HOT_VOTES,
        "hidden_share": HIDDEN_SHARE,
    }
    scale = environment.spec.scale
    moderation = {
        "moderator": MODERATOR,
        "members": MEMBERS,
        "flat": FLAT,
        "threaded": THREADED,
        "comments": COMMENTS,
        "cases": int(CASES * scale),
        "items": int(ITEMS * scale),
        "unread": UNREAD,
        "reader": READER,
    }
    with psycopg.connect(url, autocommit=True) as connection:
        psycopg.ClientCursor(connection).execute(LOAD, values)
        blocker = {"blocker": BLOCKER, "authors": MEMBERS, "blocks": BLOCKS}
        connection.execute(BLOCK, blocker)
        psycopg.ClientCursor(connection).execute(MODERATION, moderation)
    environment.manage("check_board_counters", "--repair", DATABASE_URL=url)
    with psycopg.connect(url, autocommit=True) as connection:
        for command in ("VACUUM FULL board_post", "VACUUM ANALYZE", "CHECKPOINT"):
            connection.execute(command)
    paths = {
        "T": TRIVIAL_PATH,
        "page 1": PATH,
        "category": f"{PATH}?category=tips",
        "by key": f"{PATH}?before={posts // 2}",
        "by number": f"{PATH}?page={posts // 40}",
        "comments": f"{PATH}/{FLAT}/comments?size=20",
        "replies": f"{PATH}/{THREADED}/comments?size=20",
        "inbox": "/api/inbox",
        "inbox count": "/api/inbox/count",
    }
    port = environment.serve(name, SERVICE_COMMAND, DATABASE_URL=url)
    requests = {
        text: Target(port, path, bearer(tokens[READER])) for text, path in paths.items()
    }
    return requests | {
        "blanked": Target(port, PATH, bearer(tokens[BLOCKER])),
        "queue": Target(port, "/api/moderation/cases", bearer(tokens[MODERATOR])),
    }


def check_responses(targets: dict[str, Target], posts: int) -> None:
    """Three hot posts lead, then notices."""
    page = get_json(targets["page 1"])
    ids = [post["id"] for post in page["results"][:3]]
    flags = [(post["hot"], post["notice"]) for post in page["results"][:4]]
    if (
        page["count"] != posts - posts // HIDDEN_SHARE
        or ids != [posts - HOT_POSTS + 1 + n for n in range(3)]
        or flags != [(True, False)] * 3 + [(False, True)]
    ):
        raise AssertionError(f"unexpected first page of the board with {posts} posts")
