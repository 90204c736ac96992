"""Names and texts of the demo community."""

from typing import NamedTuple

FAMILY_NAMES = "김이박최정강조윤장임"
GIVEN_NAMES = ("민지", "서준", "하은", "도윤", "지우", "예준", "수아")


class DemoPost(NamedTuple):
    """A post with its age, comments and numbers of votes."""

    days_ago: int
    category: str
    title: str
    content: str
    tags: list[str]
    up: int
    down: int
    comments: tuple[str, ...]
    has_image: bool = False


NOTICE = DemoPost(
    25,
    "community",
    "게시판 이용 안내",
    "<p>서로의 살림을 응원하는 공간입니다. <strong>계좌번호와 카드번호는 올리지 "
    "마세요.</strong> 광고는 예고 없이 지웁니다.</p>",
    ["공지"],
    12,
    0,
    ("확인했습니다. 고맙습니다!",),
)

POSTS = (
    DemoPost(
        0,
        "saving",
        "한 달 식비 30만 원, 세 번째 도전 결과",
        "<p>이번 달 식비를 그래프로 그려 보았습니다.</p>{image}"
        "<ul><li>장보기는 일주일에 한 번</li><li>배달은 한 달에 두 번까지</li></ul>"
        "<p>다음 달에는 커피를 줄여 보려고 합니다.</p>",
        ["식비", "인증"],
        54,
        2,
        (
            "그래프가 있으니 한눈에 들어오네요.",
            "배달 두 번이 제일 어려울 것 같아요…",
            "저도 다음 달부터 같이 해 볼게요!",
        ),
        has_image=True,
    ),
    DemoPost(
        1,
        "tips",
        "카드 알림 문자를 가계부로 보내는 방법",
        "<ol><li>알림을 전달하는 앱을 켭니다.</li>"
        "<li>확인 대기 목록에서 분류를 고릅니다.</li>"
        "<li>한 번 고치면 다음부터는 그대로 따라 합니다.</li></ol>",
        ["카드", "자동입력"],
        31,
        0,
        (
            "확인 대기에 뜨는 게 정말 편해요.",
            "아이폰에서도 되나요?",
            "네, 단축어로 됩니다.",
        ),
    ),
    DemoPost(
        2,
        "community",
        "가계부 쓴 지 1년, 순자산이 처음으로 늘었어요",
        "<p>매달 말일에 자산 추이를 보는 재미로 버텼습니다. 전세대출이 줄어드는 것이 "
        "보이니 힘이 나네요.</p>",
        ["순자산"],
        42,
        1,
        ("축하합니다!", "1년이라니 대단하세요.", "저는 이제 한 달째입니다."),
    ),
    DemoPost(
        4,
        "saving",
        "고정비부터 줄이기: 통신비 4만 원 절약",
        "<p>알뜰폰으로 바꾸고 반복 거래의 금액을 고쳤습니다. 예산 화면에서 바로 "
        "차이가 보입니다.</p>",
        ["통신비", "고정비"],
        27,
        3,
        ("어느 통신사로 옮기셨나요?", "저도 이번 주말에 알아봐야겠어요."),
    ),
    DemoPost(
        6,
        "tips",
        "무이자 할부, 이렇게 기록하면 헷갈리지 않아요",
        "<blockquote>할부는 산 날에 한 번, 개월 수와 함께 적습니다.</blockquote>"
        "<p>매달 나누어 적으면 예산이 왜곡되더라고요.</p>",
        ["할부"],
        18,
        4,
        ("반대로 매달 나누어 적는 분은 안 계신가요?",),
    ),
    DemoPost(
        9,
        "community",
        "부부가 함께 쓰는 가계부, 규칙이 있으신가요?",
        "<p>저희는 10만 원이 넘는 지출은 미리 이야기하기로 했습니다.</p>",
        ["부부"],
        15,
        0,
        ("저희는 용돈만 각자 관리해요.", "일요일 저녁에 같이 정리합니다."),
    ),
    DemoPost(
        13,
        "saving",
        "냉장고 파먹기 2주 후기",
        "<p>장보기 없이 2주를 지냈습니다. <em>남은 재료 목록</em>을 붙여 두는 것이 "
        "비결입니다.</p>",
        ["식비"],
        22,
        1,
        ("목록을 붙여 두는 게 좋네요.",),
    ),
    DemoPost(
        18,
        "tips",
        "적립식 투자 기록은 소수점까지",
        "<p>소수점 매수도 수량 그대로 적으면 평균 단가가 맞아떨어집니다.</p>",
        ["투자"],
        11,
        0,
        (),
    ),
)


class ShortPost(NamedTuple):
    title: str
    content: str


REPORTED_POST = ShortPost(
    "주말 부업으로 월 300 버는 법, 쪽지 주세요",
    "<p>가입만 하면 바로 입금됩니다. 자세한 내용은 오픈채팅으로 문의하세요. "
    "<strong>선착순 20명</strong>입니다.</p>",
)
SPAM_NOTES = (
    "같은 글을 다른 게시판에서도 봤습니다.",
    "",
    "가입비를 먼저 내라고 합니다.",
)
REPORTED_COMMENT = "그것도 모르면서 가계부를 쓴다고요? 한심하네요."
HELD_POST = ShortPost(
    "안녕하세요, 가입 인사드려요",
    '<p>제가 쓰는 <a href="https://example.com/budget">예산표</a>를 나누고 싶어요.</p>',
)
BLIND_POST = ShortPost(
    "환불을 안 해 주는 가게를 공개합니다",
    "<p>한강로 모퉁이 가게 김 사장님, 전화번호는 010-0000-0000입니다.</p>",
)
NOTICE_FROM_OUTSIDE = {
    "text": "제 이름과 전화번호가 적혀 있습니다. 지워 주세요.",
    "name": "김사장",
    "email": "owner@example.com",
}
APPEALED_POST = ShortPost(
    "저축은행 특판 금리 정리",
    "<p>이번 주 특판을 정리해 보았습니다. 광고가 아니라 직접 전화해서 확인했어요.</p>",
)
APPEAL = "광고가 아닙니다. 어느 은행에서도 돈을 받지 않았고, 직접 조사한 내용입니다."
