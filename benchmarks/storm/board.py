"""Members who write on one board at random; they know together what it must show."""

import random
import threading
from collections import Counter
from dataclasses import dataclass, field

from benchmarks.storm.connection import UNCERTAIN, Answer, Connection

ROOT = "/api/board"
POINTS, MAX_AWARDS = 10, 3
MAX_POSTS = 100
VOTES = ("up", "down", "none")
GONE = 404


@dataclass(eq=False)
class Text:
    """A post, or a comment on one; only its author changes it."""

    id: int
    author: int
    content: str
    votes: dict[int, str] = field(default_factory=dict)
    comments: dict[int, "Text"] = field(default_factory=dict)
    # True once its author has sent the request to delete it.
    may_be_gone: bool = False

    @property
    def counts(self) -> tuple[int, int]:
        votes = Counter(self.votes.values())
        return votes["up"], votes["down"]


@dataclass
class Board:
    """The posts that there must be, changed under the lock."""

    posts: dict[int, Text] = field(default_factory=dict)
    written: Counter[int] = field(default_factory=Counter)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def pick_post(
        self, chance: random.Random, author: int | None = None
    ) -> Text | None:
        with self.lock:
            posts = [p for p in self.posts.values() if author in (None, p.author)]
        return chance.choice(posts) if posts else None


@dataclass
class BoardClient:
    connection: Connection
    chance: random.Random
    member: int
    board: Board
    number: int = 0

    def act(self) -> None:
        texts = (self.write_comment, self.write_comment, self.vote, self.vote)
        action = self.chance.choice((self.write_post, self.delete_post, *texts))
        sent = self.connection.sent
        action()
        if self.connection.sent > sent:
            self.connection.record.add_operation(action.__name__)

    def make_text(self, kind: str) -> str:
        self.number += 1
        return f"{kind} {self.number} of {self.member}"

    def report(self, text: str, answer: Answer) -> None:
        self.connection.report(f"member {self.member}: {text}: {answer}")

    def write(
        self, kind: str, path: str, body: dict[str, str], post: Text | None = None
    ) -> int | None:
        """Return the id of a new text; after no answer, look for it.

        The author of `post` may delete it in the meantime.
        """
        answer = self.connection.send("POST", path, body)
        if answer.status in UNCERTAIN:
            return self.find(kind, next(iter(body.items())))
        if answer.status == 201:
            new_id: int = answer.body["id"]
            return new_id
        if not (answer.status == GONE and post and post.may_be_gone):
            self.report(f"new {kind} {body}", answer)
        return None

    def find(self, kind: str, value: tuple[str, str]) -> int | None:
        self.connection.settle()
        rows = self.connection.get_pages(f"{ROOT}/my/{kind}")
        found: list[int] = [row["id"] for row in rows if value in row.items()]
        return found[0] if found else None

    def write_post(self) -> None:
        if len(self.board.posts) >= MAX_POSTS:
            return
        title = self.make_text("post")
        body = {"title": title, "content": f"<p>{title}</p>", "category": "tips"}
        post_id = self.write("posts", f"{ROOT}/posts", body)
        if post_id is not None:
            with self.board.lock:
                self.board.posts[post_id] = Text(post_id, self.member, title)
                self.board.written[self.member] += 1

    def delete_post(self) -> None:
        post = self.board.pick_post(self.chance, self.member)
        if post is None:
            return
        post.may_be_gone = True
        answer = self.connection.send("DELETE", f"{ROOT}/posts/{post.id}")
        if answer.status in UNCERTAIN:
            if self.find("posts", ("title", post.content)) is not None:
                post.may_be_gone = False
                return
        elif answer.status != 204:
            self.report("deleted post", answer)
            return
        with self.board.lock:
            del self.board.posts[post.id]

    def write_comment(self) -> None:
        post = self.board.pick_post(self.chance)
        if post is None:
            return
        path, content = f"{ROOT}/posts/{post.id}/comments", self.make_text("comment")
        comment_id = self.write("comments", path, {"content": content}, post)
        if comment_id is not None:
            with self.board.lock:
                post.comments[comment_id] = Text(comment_id, self.member, content)
                self.board.written[self.member] += 1

    def vote(self) -> None:
        """Set the vote on a post until an answer comes."""
        post = self.board.pick_post(self.chance)
        if post is None:
            return
        path, wanted = f"{ROOT}/posts/{post.id}/vote", self.chance.choice(VOTES)
        body = {"set": wanted}
        while (answer := self.connection.send("POST", path, body)).status in UNCERTAIN:
            self.connection.settle()
        if answer.status == GONE and post.may_be_gone:
            return
        if post.author == self.member:
            if (answer.status, answer.code) != (400, "SELF_VOTE"):
                self.report(f"own vote on {post.id}", answer)
        elif answer.status != 200 or (answer.body["myVote"] or "none") != wanted:
            self.report(f"vote {wanted} on {post.id}", answer)
        else:
            post.votes[self.member] = wanted

    def check_points(self) -> None:
        """Compare the points of one day or two."""
        points = self.connection.get("/api/auth/points")["points"]
        written = self.board.written[self.member]
        least = POINTS * min(written, MAX_AWARDS)
        if not least <= points <= min(2 * least, POINTS * written):
            text = f"member {self.member}: {points} points for {written} texts"
            self.connection.report(text)


def verify_board(connection: Connection, board: Board) -> None:
    shown = {row["id"]: row for row in connection.get_pages(f"{ROOT}/posts")}
    connection.expect("posts", sorted(board.posts), sorted(shown))
    for post_id in board.posts.keys() & shown.keys():
        post, row = board.posts[post_id], shown[post_id]
        connection.expect(
            f"post {post_id}",
            (post.content, *post.counts, len(post.comments)),
            (row["title"], row["upCount"], row["downCount"], row["commentCount"]),
        )
        comments = connection.get_pages(f"{ROOT}/posts/{post_id}/comments")
        connection.expect(
            f"comments of {post_id}",
            sorted((c.id, c.author, c.content) for c in post.comments.values()),
            sorted((c["id"], c["author"]["id"], c["content"]) for c in comments),
        )
