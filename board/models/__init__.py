"""Models of the board."""

from board.models.cases import (
    APPEAL_LENGTH,
    NOTE_LENGTH,
    Decision,
    ModerationCase,
    Report,
    ReportReason,
    TargetType,
)
from board.models.content import (
    COMMENT_LENGTH,
    CONTENT_LENGTH,
    TAG_LENGTH,
    TITLE_LENGTH,
    Comment,
    CommentVote,
    HiddenReason,
    Post,
    PostCategory,
    PostCount,
    PostVote,
)
from board.models.images import Image, ObjectDeletion, PostImage
from board.models.keys import PostKey
from board.models.outside_reports import (
    MAX_REPORTER_NAME_LENGTH,
    OUTSIDE_TEXT_LENGTH,
    OutsideReport,
)

__all__ = [
    "APPEAL_LENGTH",
    "COMMENT_LENGTH",
    "CONTENT_LENGTH",
    "MAX_REPORTER_NAME_LENGTH",
    "NOTE_LENGTH",
    "OUTSIDE_TEXT_LENGTH",
    "TAG_LENGTH",
    "TITLE_LENGTH",
    "Comment",
    "CommentVote",
    "Decision",
    "HiddenReason",
    "Image",
    "ModerationCase",
    "ObjectDeletion",
    "OutsideReport",
    "Post",
    "PostCategory",
    "PostCount",
    "PostImage",
    "PostKey",
    "PostVote",
    "Report",
    "ReportReason",
    "TargetType",
]
