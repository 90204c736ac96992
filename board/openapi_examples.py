"""Examples of the board."""

from board.errors import NotAuthorError, SelfVoteError
from core.api.examples import (
    Call,
    Example,
    Refusal,
    administrator_required,
    invalid,
    not_found,
    unauthenticated,
)
from core.errors import NotFoundError

NOW = "2026-11-20T03:30:00+00:00"
MINJI = {"id": 1, "displayName": "김민지", "avatar": None, "staff": False}
JUNHO = {"id": 2, "displayName": "이준호", "avatar": None, "staff": False}

TIP = {
    "id": 101,
    "title": "장보기 비용 줄이는 법",
    "category": "saving",
    "tags": ["장보기", "식비"],
    "notice": False,
    "hot": False,
    "upCount": 0,
    "downCount": 0,
    "commentCount": 1,
    "myVote": None,
    "author": JUNHO,
    "blocked": False,
    "state": "SHOWN",
    "createdAt": NOW,
}
TIP_CONTENT = {
    "content": "<p>일주일 식단을 먼저 짜고 장을 봅니다.</p>",
    "updatedAt": NOW,
    "recommenders": [],
}
NEW_QUESTION = {
    "title": "통신비 얼마나 쓰세요?",
    "content": "<p>알뜰폰으로 옮길까 합니다.</p>",
    "category": "community",
    "tags": ["통신비"],
}
QUESTION = (
    TIP | TIP_CONTENT | NEW_QUESTION | {"id": 102, "commentCount": 0, "author": MINJI}
)
QUESTION_SUMMARY = {name: QUESTION[name] for name in TIP}
COMMENT = {
    "id": 201,
    "parentId": None,
    "replyTo": None,
    "content": "좋은 글 감사합니다.",
    "upCount": 0,
    "downCount": 0,
    "myVote": None,
    "hot": False,
    "author": JUNHO,
    "blocked": False,
    "deleted": False,
    "createdAt": NOW,
    "updatedAt": NOW,
}
OWN_COMMENT = COMMENT | {
    "id": 202,
    "content": "저는 냉장고부터 비웁니다.",
    "author": MINJI,
    "blocked": False,
}
ONE_UP = {"upCount": 1, "downCount": 0, "myVote": "up"}

EXAMPLES = {
    "createPost": Example(
        body=NEW_QUESTION,
        status=201,
        answer=QUESTION,
        refusal=invalid(
            "category",
            "invalid_choice",
            "This is none of the possible values.",
            body=NEW_QUESTION | {"category": "food"},
        ),
    ),
    "listPosts": Example(
        query={"category": "saving"},
        answer={"count": 1, "next": None, "previous": None, "results": [TIP]},
        refusal=Refusal(
            NotFoundError("The page does not exist."), Call(query={"page": 9})
        ),
    ),
    "getPost": Example(
        path={"postId": 101}, answer=TIP | TIP_CONTENT, refusal=not_found(postId=199)
    ),
    "replacePost": Example(
        path={"postId": 102},
        body=NEW_QUESTION | {"title": "통신비 한 달에 얼마 쓰세요?"},
        answer=QUESTION | {"title": "통신비 한 달에 얼마 쓰세요?"},
        refusal=Refusal(
            NotAuthorError(), Call(path={"postId": 101}, body=NEW_QUESTION)
        ),
    ),
    "updatePost": Example(
        path={"postId": 102},
        body={"title": "통신비 얼마나 쓰세요?"},
        answer=QUESTION,
        refusal=Refusal(
            NotAuthorError(), Call(path={"postId": 101}, body={"title": "통신비"})
        ),
    ),
    "listMyPosts": Example(
        answer={
            "count": 1,
            "next": None,
            "previous": None,
            "results": [QUESTION_SUMMARY],
        },
        refusal=unauthenticated(),
    ),
    "setPostVote": Example(
        path={"postId": 101},
        body={"set": "up"},
        answer=ONE_UP,
        refusal=Refusal(
            SelfVoteError(), Call(path={"postId": 102}, body={"set": "up"})
        ),
    ),
    "listRecommenders": Example(
        path={"postId": 101}, answer=[MINJI], refusal=not_found(postId=199)
    ),
    "publishNotice": Example(
        caller="administrator",
        path={"postId": 102},
        answer=QUESTION | {"notice": True},
        refusal=administrator_required(path={"postId": 102}),
    ),
    "withdrawNotice": Example(
        caller="administrator",
        path={"postId": 102},
        answer=QUESTION,
        refusal=administrator_required(path={"postId": 102}),
    ),
    "createComment": Example(
        path={"postId": 101},
        body={"content": "저는 냉장고부터 비웁니다."},
        status=201,
        answer=OWN_COMMENT,
        refusal=not_found(postId=199, body={"content": "저는 냉장고부터 비웁니다."}),
    ),
    "listComments": Example(
        path={"postId": 101},
        answer={
            "count": 2,
            "next": None,
            "previous": None,
            "results": [COMMENT, OWN_COMMENT],
        },
        refusal=not_found(postId=199),
    ),
    "updateComment": Example(
        path={"commentId": 202},
        body={"content": "저는 냉장고부터 비워요."},
        answer=OWN_COMMENT | {"content": "저는 냉장고부터 비워요."},
        refusal=Refusal(
            NotAuthorError(), Call(path={"commentId": 201}, body={"content": "좋아요."})
        ),
    ),
    "setCommentVote": Example(
        path={"commentId": 201},
        body={"set": "up"},
        answer=ONE_UP,
        refusal=Refusal(
            SelfVoteError(), Call(path={"commentId": 202}, body={"set": "up"})
        ),
    ),
    "listMyComments": Example(
        answer={
            "count": 1,
            "next": None,
            "previous": None,
            "results": [
                OWN_COMMENT
                | {
                    "content": "저는 냉장고부터 비워요.",
                    "post": {
                        "id": 101,
                        "title": "장보기 비용 줄이는 법",
                        "category": "saving",
                    },
                }
            ],
        },
        refusal=unauthenticated(),
    ),
    "deleteComment": Example(
        path={"commentId": 202},
        status=204,
        refusal=Refusal(NotAuthorError(), Call(path={"commentId": 201})),
    ),
    "deletePost": Example(
        path={"postId": 102},
        status=204,
        refusal=Refusal(NotAuthorError(), Call(path={"postId": 101})),
    ),
    "uploadImage": Example(
        upload="image",
        status=201,
        answer={
            "id": "0f8a3c52-6d1e-4b7f-9a35-2c4e8d7b1f60",
            "url": "https://ledger.example/api/images/"
            "0f8a3c52-6d1e-4b7f-9a35-2c4e8d7b1f60",
            "width": 40,
            "height": 30,
        },
        refusal=unauthenticated(upload="image"),
    ),
    "getImage": Example(
        caller="anonymous",
        path={"imageId": "0f8a3c52-6d1e-4b7f-9a35-2c4e8d7b1f60"},
        refusal=Refusal(
            NotFoundError(),
            Call(
                caller="anonymous",
                path={"imageId": "7b1f602c-4e8d-4a35-9b7f-6d1e0f8a3c52"},
            ),
        ),
    ),
}
