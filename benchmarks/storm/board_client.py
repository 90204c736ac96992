"""Members who write on one board at random; all know together what it must show."""

import random
import threading
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from benchmarks.storm.connection import UNCERTAIN, Answer, Connection

ROOT = "/api/board"
CATEGORIES = ("community", "saving", "tips")
VOTES = ("up", "down", "none")
POINTS, MAX_AWARDS = 10, 3
MAX_POSTS = 150
GONE = 404


@dataclass(eq=False)
class Comment:
    id: int
    author: int
    content: str
    votes: dict[int, str] = field(default_factory=dict)
    # From the moment that its author sends the request to delete it.
    may_be_gone: bool = False


@dataclass(eq=False)
class Post:
    id: int
    author: int
    title: str
    content: str
    category: str
    tags: list[str]
    is_notice: bool = False
    votes: dict[int, str] = field(default_factory=dict)
    comments: dict[int, Comment] = field(default_factory=dict)
    may_be_gone: bool = False


@dataclass
class Board:
    """The posts that there must be, changed under the lock."""

    posts: dict[int, Post] = field(default_factory=dict)
    # Posts and comments that members wrote, for their points.
    written: Counter[int] = field(default_factory=Counter)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def pick_post(
        self, chance: random.Random, author: int | None = None
    ) -> Post | None:
        """Return a post, one of the author's where that is given."""
        with self.lock:
            posts = [p for p in self.posts.values() if author in (None, p.author)]
        return chance.choice(posts) if posts else None

    def pick_comment(
        self, chance: random.Random, author: int | None = None
    ) -> tuple[Post, Comment] | None:
        with self.lock:
            comments = [
                (post, comment)
                for post in self.posts.values()
                for comment in post.comments.values()
                if author in (None, comment.author)
            ]
        return chance.choice(comments) if comments else None


@dataclass
class BoardClient:
    """One member. What a member wrote or voted is changed by nobody else."""

    connection: Connection
    chance: random.Random
    member: int
    board: Board
    is_administrator: bool = False
    number: int = 0

    def act(self) -> None:
        actions = [
            *(self.write_post, self.edit_post, self.delete_post),
            *(self.write_comment,) * 3,
            *(self.edit_comment, self.delete_comment),
            *(self.vote_on_post,) * 3,
            *(self.vote_on_comment,) * 2,
            self.read_post,
        ]
        if self.is_administrator:
            actions.append(self.set_notice)
        action = self.chance.choice(actions)
        sent = self.connection.sent
        action()
        if self.connection.sent > sent:
            self.connection.record.add_operation(action.__name__)

    def make_text(self, kind: str) -> str:
        self.number += 1
        return f"{kind} {self.number} of {self.member}"

    def report(self, what: str, answer: Answer) -> None:
        self.connection.record.add_difference(f"member {self.member}: {what}: {answer}")

    def find(self, path: str, field_name: str, text: str) -> int | None:
        """Return the id of the own row with this text after an uncertain write."""
        self.connection.settle()
        for row in self.connection.get_pages(path):
            if row[field_name] == text:
                row_id: int = row["id"]
                return row_id
        return None

    def read_or_gone(self, path: str) -> Any:
        """Return a body after an uncertain write, None if it is gone."""
        self.connection.settle()
        while (answer := self.connection.send("GET", path)).status in UNCERTAIN:
            self.connection.settle()
        return None if answer.status == GONE else answer.body

    def write_post(self) -> None:
        if len(self.board.posts) >= MAX_POSTS:
            return
        title, content = self.make_text("post"), f"<p>{self.make_text('text')}</p>"
        category = self.chance.choice(CATEGORIES)
        tags = [self.make_text("tag")]
        body = {"title": title, "content": content, "category": category, "tags": tags}
        answer = self.connection.send("POST", f"{ROOT}/posts", body)
        post_id = answer.body["id"] if answer.status == 201 else None
        if answer.status in UNCERTAIN:
            post_id = self.find(f"{ROOT}/my/posts", "title", title)
        elif answer.status != 201:
            self.report("new post", answer)
        if post_id is not None:
            post = Post(post_id, self.member, title, content, category, tags)
            with self.board.lock:
                self.board.posts[post_id] = post
                self.board.written[self.member] += 1

    def edit_post(self) -> None:
        post = self.board.pick_post(self.chance, self.member)
        if post is None:
            return
        title, content = self.make_text("edited"), f"<p>{self.make_text('text')}</p>"
        path = f"{ROOT}/posts/{post.id}"
        body = {"title": title, "content": content}
        answer = self.connection.send("PATCH", path, body)
        if answer.status in UNCERTAIN:
            shown = self.read_or_gone(path)
            if shown is None or shown["title"] == post.title:
                return
            answer = Answer(200, shown)
        if answer.status != 200 or answer.body["content"] != content:
            self.report("edited post", answer)
            return
        post.title, post.content = title, content

    def delete_post(self) -> None:
        post = self.board.pick_post(self.chance, self.member)
        if post is None:
            return
        post.may_be_gone = True
        path = f"{ROOT}/posts/{post.id}"
        answer = self.connection.send("DELETE", path)
        if answer.status in UNCERTAIN:
            if self.read_or_gone(path) is not None:
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
        content = self.make_text("comment")
        path = f"{ROOT}/posts/{post.id}/comments"
        answer = self.connection.send("POST", path, {"content": content})
        comment_id = answer.body["id"] if answer.status == 201 else None
        if answer.status in UNCERTAIN:
            comment_id = self.find(f"{ROOT}/my/comments", "content", content)
        elif answer.status == GONE and post.may_be_gone:
            return
        elif answer.status != 201:
            self.report(f"comment on {post.id}", answer)
        if comment_id is not None:
            comment = Comment(comment_id, self.member, content)
            with self.board.lock:
                post.comments[comment_id] = comment
                self.board.written[self.member] += 1

    def edit_comment(self) -> None:
        found = self.board.pick_comment(self.chance, self.member)
        if found is None:
            return
        post, comment = found
        content = self.make_text("comment")
        path = f"{ROOT}/comments/{comment.id}"
        answer = self.connection.send("PUT", path, {"content": content})
        if answer.status in UNCERTAIN:
            found_id = self.find(f"{ROOT}/my/comments", "content", content)
            if found_id is None:
                return
        elif answer.status == GONE and post.may_be_gone:
            return
        elif answer.status != 200:
            self.report(f"edited comment {comment.id}", answer)
            return
        comment.content = content

    def delete_comment(self) -> None:
        found = self.board.pick_comment(self.chance, self.member)
        if found is None:
            return
        post, comment = found
        comment.may_be_gone = True
        answer = self.connection.send("DELETE", f"{ROOT}/comments/{comment.id}")
        if answer.status in UNCERTAIN:
            path = f"{ROOT}/my/comments"
            if self.find(path, "content", comment.content) is not None:
                comment.may_be_gone = False
                return
        elif answer.status != 204 and not (answer.status == GONE and post.may_be_gone):
            self.report(f"deleted comment {comment.id}", answer)
            return
        with self.board.lock:
            post.comments.pop(comment.id, None)

    def vote_on_post(self) -> None:
        post = self.board.pick_post(self.chance)
        if post is not None:
            self.vote(post, post, f"{ROOT}/posts/{post.id}")

    def vote_on_comment(self) -> None:
        if found := self.board.pick_comment(self.chance):
            self.vote(*found, f"{ROOT}/comments/{found[1].id}")

    def vote(self, post: Post, target: Post | Comment, path: str) -> None:
        """Set or toggle the vote; after no answer, set it until one comes."""
        current = target.votes.get(self.member, "none")
        wanted = self.chance.choice(VOTES)
        body = {"set": wanted}
        if wanted != "none" and self.chance.random() < 0.5:
            body = {"value": wanted}
            after = "none" if wanted == current else wanted
        else:
            after = wanted
        answer = self.connection.send("POST", f"{path}/vote", body)
        while answer.status in UNCERTAIN:
            self.connection.settle()
            answer = self.connection.send("POST", f"{path}/vote", {"set": after})
        if answer.status == GONE and (post.may_be_gone or target.may_be_gone):
            return
        if target.author == self.member:
            if (answer.status, answer.code) != (400, "SELF_VOTE"):
                self.report(f"own vote on {path}", answer)
        elif answer.status != 200 or (answer.body["myVote"] or "none") != after:
            self.report(f"vote {after} on {path}", answer)
        else:
            target.votes[self.member] = after

    def set_notice(self) -> None:
        post = self.board.pick_post(self.chance)
        if post is None:
            return
        is_notice = self.chance.random() < 0.5
        action = "notice" if is_notice else "unnotice"
        path = f"{ROOT}/posts/{post.id}/{action}"
        answer = self.connection.send("POST", path)
        while answer.status in UNCERTAIN:
            self.connection.settle()
            answer = self.connection.send("POST", path)
        if answer.status == GONE and post.may_be_gone:
            return
        if answer.status != 200 or answer.body["notice"] != is_notice:
            self.report(action, answer)
            return
        post.is_notice = is_notice

    def read_post(self) -> None:
        """Read a post, which shows at least what this member knows of it."""
        post = self.board.pick_post(self.chance)
        if post is None:
            return
        mine = post.votes.get(self.member, "none")
        answer = self.connection.send("GET", f"{ROOT}/posts/{post.id}")
        if answer.status in UNCERTAIN or (answer.status == GONE and post.may_be_gone):
            return
        if answer.status != 200 or (answer.body["myVote"] or "none") != mine:
            self.report(f"read post {post.id}, vote {mine}", answer)

    def check_points(self) -> None:
        """Compare the points with what the member wrote, on one day or two."""
        points = self.connection.get("/api/auth/points")["points"]
        written = self.board.written[self.member]
        least = POINTS * min(written, MAX_AWARDS)
        if not least <= points <= min(2 * least, POINTS * written):
            text = f"member {self.member}: {points} points for {written} texts"
            self.connection.record.add_difference(text)


def verify_board(connection: Connection, board: Board) -> None:
    """Compare the whole board, with all counters, with what it must be."""

    def expect(what: str, expected: Any, actual: Any) -> None:
        if expected != actual:
            text = f"{what}: expected {expected}, not {actual}"
            connection.record.add_difference(text)

    shown = {row["id"]: row for row in connection.get_pages(f"{ROOT}/posts")}
    expect("posts", sorted(board.posts), sorted(shown))
    for post_id in board.posts.keys() & shown.keys():
        post = board.posts[post_id]
        row = connection.get(f"{ROOT}/posts/{post_id}")
        for each in (row, shown[post_id]):
            actual = (each["title"], each["category"], each["tags"], each["notice"])
            expected = (post.title, post.category, post.tags, post.is_notice)
            expect(f"post {post_id}", expected, actual)
            counts = each["upCount"], each["downCount"], each["commentCount"]
            votes = Counter(post.votes.values())
            expected_counts = votes["up"], votes["down"], len(post.comments)
            expect(f"counts of post {post_id}", expected_counts, counts)
        expect(f"content of post {post_id}", post.content, row["content"])
        expect(
            f"recommenders of {post_id}",
            sorted(m for m, vote in post.votes.items() if vote == "up"),
            sorted(each["id"] for each in row["recommenders"]),
        )
        comments = connection.get_pages(f"{ROOT}/posts/{post_id}/comments")
        expect(
            f"comments of {post_id}",
            sorted(
                (c.id, c.author, c.content, *count_votes(c.votes))
                for c in post.comments.values()
            ),
            sorted(
                (
                    *(row["id"], row["author"]["id"], row["content"]),
                    *(row["upCount"], row["downCount"]),
                )
                for row in comments
            ),
        )


def count_votes(votes: dict[int, str]) -> tuple[int, int]:
    values = list(votes.values())
    return values.count("up"), values.count("down")
