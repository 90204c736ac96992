"""Texts of card notifications, and the paths that take them."""

NOTIFICATION = "/api/account/entries/notification"
PARSE = "/api/account/entries/parse"
ENTRIES = "/api/account/entries"
APPROVAL = (
    "[Web발신]\n신한카드(1309)승인 홍*동 4,800원(일시불)11/10 08:31 바람커피성수"
    " 누적512,300원"
)
PUSH = (
    "신한 SOL페이[신한카드승인] 홍*동(1309)\n- 승인일시: 11/10 08:31\n"
    "- 승인금액: 4,800원\n- 가맹점명: 바람커피성수"
)
SECOND = (
    "[Web발신]\n신한카드(1309)승인 홍*동 4,800원(일시불)11/10 08:33 바람커피성수"
    " 누적517,100원"
)
CANCELLATION = (
    "[Web발신]\n신한카드(1309)취소 홍*동 4,800원(일시불)11/10 08:31 바람커피성수"
    " 누적507,500원"
)
PARTIAL = "[Web발신]\n신한카드(1309)부분취소 홍*동 1,000원 11/10 09:10 바람커피성수"
INSTALLMENT = (
    "[Web발신]\n신한카드(1309)승인 홍*동 264,000원(3개월)11/11 18:40 한결가구"
    " 누적776,300원"
)
UNTIMED = "[현대카드]-승인\n홍*동님\n4,500원(일시불)\n소담분식\n누적:282,000원"
FOREIGN = (
    "[Web발신]\n네이버 현대카드 해외승인\n도*윤님\n11/03 19:48\nUSD 38.00\nLUMENAI*SUB"
)
DECLINED = (
    "[Web발신]\n하나9*3*승인거절 추*온 86,000원 11/09 22:10 별빛마트 비밀번호오류"
)
ADVERT = "(광고)NH농협카드\n체크카드 5만원 이상 사용시 3천원 돌려드려요\n수신거부 080-300-3000"
