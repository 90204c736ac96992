"""The demo community."""

from datetime import datetime, timedelta
from io import BytesIO
from random import Random

from django.conf import settings
from django.contrib.auth.hashers import make_password
from PIL import Image as PillowImage
from PIL import ImageDraw

from accounts.models import Member
from administration.demo.texts import FAMILY_NAMES, GIVEN_NAMES, NOTICE, POSTS, DemoPost
from administration.demo.timeline import Timeline
from billing.models import Purchase, seal_token
from billing.products import MONTHLY, YEARLY
from billing.purchases import PLAN_FIELDS, recompute_plan
from billing.stores import hash_token
from board.comments import create_comment
from board.images import create_image
from board.models import Comment, CommentVote, PostVote
from board.posts import PostData, create_post

SIGNUP_DAYS = 90
# No store knows it, so no job asks about these purchases.
DEMO_STORE = "demo"
# Every n-th member bought a product, some of them yearly.
BUYER_STEP, YEARLY_STEP = 5, 3
CHART_COLORS = ("#2f6f4f", "#5b9a74", "#a8cbb4")
CHART_WEEKS = ((90, 60, 40), (70, 50, 30), (80, 30, 20), (60, 40, 10))
# The earliest members write posts and comments.
AUTHORS = 25


def create_neighbors(now: datetime, rng: Random) -> list[Member]:
    """Create the members, as whom nobody can log in."""
    names = [family + given for given in GIVEN_NAMES for family in FAMILY_NAMES]
    members = [
        Member(
            login_id=f"demo-neighbor-{number}",
            display_name=name,
            email=f"demo-neighbor-{number}@example.com",
            password=make_password(None),
            created_at=now - timedelta(hours=rng.randrange(1, SIGNUP_DAYS * 24)),
        )
        for number, name in enumerate(names, start=1)
    ]
    members.sort(key=lambda member: member.created_at)
    return Member.objects.bulk_create(members)


def plan_board(
    timeline: Timeline,
    administrator: Member,
    neighbors: list[Member],
    now: datetime,
    rng: Random,
) -> int:
    """Add the posts, with votes and comments, to the timeline; return their number."""
    _plan_post(timeline, administrator, NOTICE, neighbors, now, rng)
    authors = rng.sample(neighbors[:AUTHORS], len(POSTS))
    for author, post in zip(authors, POSTS, strict=True):
        _plan_post(timeline, author, post, neighbors, now, rng)
    return len(POSTS) + 1


def _plan_post(
    timeline: Timeline,
    author: Member,
    post: DemoPost,
    neighbors: list[Member],
    now: datetime,
    rng: Random,
) -> None:
    posted_at = now - timedelta(days=post.days_ago, hours=3)
    others = [
        member
        for member in neighbors
        if member != author and member.created_at < posted_at
    ]
    voters = rng.sample(others, post.up + post.down)
    post_ids: list[int] = []

    def random_time() -> datetime:
        return posted_at + timedelta(minutes=rng.randrange(5, 170))

    vote_times = [random_time() for _ in voters]
    timeline.add(
        posted_at,
        lambda: post_ids.append(
            _create_post(author, post, voters, posted_at, vote_times)
        ),
    )
    for text, time in zip(
        post.comments, sorted(random_time() for _ in post.comments), strict=True
    ):
        commenter = rng.choice(others[: AUTHORS - 1])
        fans = rng.sample(others, rng.randrange(8))

        def comment(
            commenter: Member = commenter,
            text: str = text,
            time: datetime = time,
            fans: list[Member] = fans,
        ) -> None:
            comment_id = create_comment(commenter, post_ids[0], text, time)
            _vote_on_comment(comment_id, commenter, fans, time)

        timeline.add(time, comment)


def _create_post(
    author: Member,
    post: DemoPost,
    voters: list[Member],
    posted_at: datetime,
    vote_times: list[datetime],
) -> int:
    content = post.content
    if post.has_image:
        image = create_image(author, BytesIO(draw_chart()), posted_at)
        content = content.replace("{image}", f'<img src="/api/images/{image.pk}">')
    data = PostData(
        post.title, content, post.category, post.tags, notice=author.is_administrator
    )
    post_id = create_post(author, data, posted_at)
    PostVote.objects.bulk_create(
        PostVote(
            post_id=post_id,
            member=voter,
            value=1 if number < post.up else -1,
            created_at=time,
        )
        for number, (voter, time) in enumerate(zip(voters, vote_times, strict=True))
    )
    return post_id


def _vote_on_comment(
    comment_id: int, author: Member, voters: list[Member], time: datetime
) -> None:
    comment = Comment.objects.get(pk=comment_id)
    CommentVote.objects.bulk_create(
        CommentVote(comment=comment, member=voter, value=1, created_at=time)
        for voter in voters
        if voter != author
    )


def draw_chart() -> bytes:
    picture = PillowImage.new("RGB", (640, 320), "#fbfaf5")
    draw = ImageDraw.Draw(picture)
    for week, parts in enumerate(CHART_WEEKS):
        top = 280
        for part, color in zip(parts, CHART_COLORS, strict=True):
            left = 70 + week * 140
            draw.rectangle((left, top - part, left + 90, top), fill=color)
            top -= part
    draw.line((40, 281, 610, 281), fill="#40514a", width=2)
    file = BytesIO()
    picture.save(file, "PNG")
    return file.getvalue()


def create_purchases(members: list[Member], now: datetime) -> int:
    """Give members subscriptions, all but one of which run."""
    purchases = []
    buyers = members[::BUYER_STEP]
    for number, member in enumerate(buyers):
        is_yearly = number % YEARLY_STEP == YEARLY_STEP - 1
        product, days = (YEARLY, 365) if is_yearly else (MONTHLY, 30)
        # The last period began at most a period ago, except the first buyer's.
        age = (now - member.created_at).days % days if number else days + 3
        purchased_at = now - timedelta(days=age)
        token = f"demo-{member.pk}"
        purchases.append(
            Purchase(
                member=member,
                store=DEMO_STORE,
                order_id=token,
                sealed_token=seal_token(token, hash_token(token)),
                token_hash=hash_token(token),
                product_id=product.id,
                state="ACTIVE" if number else "EXPIRED",
                purchased_at=purchased_at,
                expires_at=purchased_at + timedelta(days=days),
                # The paid period of a canceled subscription remains.
                auto_renew=bool(number % 4),
                checked_at=now,
                paid_amount=settings.PREMIUM_PRICES[product.id],
                paid_currency=settings.HOME_CURRENCY,
            )
        )
    Purchase.objects.bulk_create(purchases)
    for member in buyers:
        recompute_plan(member, now)
        member.save_fields(*PLAN_FIELDS)
    return len(purchases)
