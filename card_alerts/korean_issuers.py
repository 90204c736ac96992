"""Table of the Korean card companies, banks and pay services."""

from card_alerts.issuer import Issuer


def _korean(
    name: str,
    aliases: str = "",
    ambiguous: str = "",
    apps: str = "",
    senders: str = "",
    packages: str = "",
    *,
    is_pay_service: bool = False,
) -> Issuer:
    """Return a row; names are separated by commas, senders and packages by spaces."""
    return Issuer(
        name,
        aliases=_split_names(aliases),
        ambiguous_aliases=_split_names(ambiguous),
        app_aliases=_split_names(apps),
        senders=tuple(senders.split()),
        packages=tuple(packages.split()),
        is_pay_service=is_pay_service,
    )


def _split_names(names: str) -> tuple[str, ...]:
    return tuple(filter(None, names.split(",")))


KOREAN = (
    _korean(
        "신한",
        "신한",
        apps="신한SOL페이,신한SOL Pay,신한플레이,신한 pLay,SOL페이",
        senders="15447200 15447000 15448000 15998000",
        packages="shinhan shcard",
    ),
    _korean(
        "KB국민",
        "KB국민,KB*,케이비국민,국민카드,국민체크,국민비씨,국민BC,국민은행,국민신"
        "용,KB카드,KB체크",
        ambiguous="국민,KB",
        apps="KB Pay,KB페이,KB스타뱅킹",
        senders="15881688 16449999 15881788 15999999",
        packages="kbcard kbstar kbpay",
    ),
    _korean(
        "삼성",
        "삼성카드,삼성체크,삼성가족,삼성법인,삼성BC,삼성비씨",
        ambiguous="삼성",
        senders="15888900 15888700",
        packages="samsungcard scard",
    ),
    _korean(
        "현대",
        "현대카드,현대체크,현대법인,스마일카드,스마일 카드",
        ambiguous="현대,스마일",
        senders="15776200 15776000 15220080 15776100",
        packages="hyundaicard",
    ),
    _korean(
        "롯데",
        "롯데카드,롯데체크,롯데법인,LOCA,로카,디지로카",
        ambiguous="롯데",
        apps="롯데앱카드,디지로카앱",
        senders="15888100 15888300",
        packages="lottecard lcacapp",
    ),
    _korean(
        "우리",
        "우리카드,우리체크,우리BC,우리비씨,우리은행,우리법인,우리신용",
        ambiguous="우리",
        apps="우리WON카드,우리WON페이,우리WON뱅킹,우리페이",
        senders="15889955 15999955 15885000",
        packages="wooricard wooribank wooripay",
    ),
    _korean(
        "하나",
        "하나카드,하나체크,KEB하나,하나SK,하나은행,하나BC,하나비씨,하나법인,하나"
        "신용,외환카드",
        ambiguous="하나,외환",
        apps="하나Pay,하나페이,하나머니,원큐페이",
        senders="18001111 15991111 15991155",
        packages="hanaskcard hanacard hanapay hanabank kebhana",
    ),
    _korean(
        "NH농협",
        "NH농협,NH카드,NH체크,농협카드,농협체크,농협BC,농협비씨,농협은행,NH채움"
        ",채움카드",
        ambiguous="농협,NH,채움",
        apps="NH페이,NH Pay,NH pay,올원페이",
        senders="15881600 15884000 16444000 15882100",
        packages="nonghyup nhcard nh.smart com.nh.",
    ),
    _korean(
        "BC",
        "BC바로,BC카드,비씨카드,비씨바로,바로카드,비씨체크,BC체크",
        ambiguous="BC,비씨",
        apps="페이북,ISP/페이북,paybooc",
        senders="15884500 15884515",
        packages="bccard paybooc ispmobile vpay kvp.jjy",
    ),
    _korean(
        "씨티",
        "씨티카드,씨티은행,한국씨티,씨티BC,씨티비씨,씨티체크,시티카드,시티은행,씨티",
        senders="15661000 15881111",
        packages="citibank.kr citimobile.kr kr.co.citibank",
    ),
    _korean(
        "카카오뱅크",
        "카카오뱅크,카뱅",
        senders="15993333",
        packages="kakaobank",
    ),
    _korean(
        "토스뱅크",
        "토스뱅크",
        senders="16617654",
        packages="tossbank",
    ),
    _korean(
        "케이뱅크",
        "케이뱅크,K뱅크,Kbank",
        senders="15221000",
        packages="kbankwith kbank",
    ),
    _korean(
        "IBK기업",
        "IBK기업,IBK카드,IBK,기업은행,기업BC,기업비씨,기업카드,기업체크,IBK체크",
        ambiguous="기업",
        apps="i-ONE뱅크,i-ONE Bank",
        senders="15662566 15882588",
        packages="ibk.smart ibkcard com.ibk",
    ),
    _korean(
        "SC제일",
        "SC제일,SC은행,SC카드,SC체크,SC비씨,제일은행,제일카드,제일BC,스탠다드차타"
        "드,SC제일BC",
        ambiguous="SC",
        senders="15881599",
        packages="scbank standardchartered scfirst",
    ),
    _korean(
        "새마을금고",
        "MG새마을금고,새마을금고,MG체크,MG카드,MG더뱅킹",
        ambiguous="MG",
        senders="15999000 15889999",
        packages="kfcc smartmg",
    ),
    _korean(
        "수협",
        "Sh수협,수협카드,수협체크,수협BC,수협비씨,수협은행,수협,SH수협",
        ambiguous="Sh",
        senders="15881515 16441515",
        packages="suhyup",
    ),
    _korean(
        "광주",
        "광주카드,광주은행,광주체크,광주BC,광주비씨,KJ카드,KJB,광주신용",
        ambiguous="광주",
        senders="15883388 16004000",
        packages="kjbank",
    ),
    _korean(
        "전북",
        "전북카드,전북은행,전북체크,전북BC,전북비씨,JB카드,JB전북,JB체크,전북신용"
        ",JB은행",
        ambiguous="전북,JB",
        senders="15884477",
        packages="jbbank jeonbuk",
    ),
    _korean(
        "제주",
        "제주카드,제주은행,제주체크,제주BC,제주비씨,제주신용",
        ambiguous="제주",
        senders="15880079",
        packages="jejubank",
    ),
    _korean(
        "신협",
        "신협카드,신협체크,신협BC,신협비씨,신협,CU카드",
        senders="15666000",
        packages="cu.onbank shinhyup cubank",
    ),
    _korean(
        "우체국",
        "우체국체크,우체국카드,우체국BC,우체국비씨,우체국은행,우체국예금",
        ambiguous="우체국",
        senders="15881900 15991900",
        packages="epost postbank",
    ),
    _korean(
        "부산",
        "부산은행,BNK부산,부산카드,부산BC,부산비씨,부산체크",
        senders="15886200 15446200",
        packages="busanbank",
    ),
    _korean(
        "경남",
        "경남은행,BNK경남,경남카드,경남BC,경남비씨,경남체크",
        senders="16008585 15888585",
        packages="knbank kyongnam",
    ),
    _korean(
        "iM뱅크",
        "iM뱅크,아이엠뱅크,iM카드,대구은행,DGB대구,대구BC,대구비씨,대구카드,대구체크",
        senders="15665050 15885050",
        packages="dgbank dgb.",
    ),
    _korean("산업", "산업은행,KDB산업,KDB카드,KDB BC,산업BC", senders="15881500"),
    _korean("저축은행", "SB저축은행,저축은행중앙회,저축은행체크,저축BC"),
    _korean("OK저축은행", "OK저축은행,오케이저축은행"),
    _korean("SBI저축은행", "SBI저축은행,에스비아이저축은행"),
    _korean("웰컴저축은행", "웰컴저축은행"),
    _korean("페퍼저축은행", "페퍼저축은행"),
    _korean("산림조합", "산림조합,SJ산림조합"),
    _korean("트래블월렛", "트래블월렛,트래블페이", packages="travelwallet"),
    _korean("차이", "차이카드", packages="chai"),
    _korean("핀크", "핀크카드", packages="finnq"),
    _korean(
        "네이버페이",
        "네이버페이,네이버 페이,Npay,N Pay,NPay",
        packages="naverpay naver",
        is_pay_service=True,
    ),
    _korean(
        "카카오페이",
        "카카오페이,카카오 페이,kakaopay,Kakao Pay",
        packages="kakaopay",
        is_pay_service=True,
    ),
    _korean(
        "토스",
        "토스페이,toss",
        ambiguous="토스",
        senders="15994905",
        packages="republica.toss",
        is_pay_service=True,
    ),
    _korean("페이코", "페이코,PAYCO", packages="payco", is_pay_service=True),
    _korean(
        "삼성월렛",
        "삼성월렛,삼성페이,Samsung Wallet,Samsung Pay,삼성 월렛,삼성 페이",
        packages="samsung.android.spay samsungpay",
        is_pay_service=True,
    ),
    _korean("애플페이", "애플페이,Apple Pay", is_pay_service=True),
    _korean("쿠팡페이", "쿠팡페이,쿠페이", packages="coupang", is_pay_service=True),
    _korean("SSG페이", "SSG페이,SSGPAY,SSG PAY,쓱페이", is_pay_service=True),
    _korean("스마일페이", "스마일페이", is_pay_service=True),
    _korean("당근페이", "당근페이,당근머니", is_pay_service=True),
    _korean("배민페이", "배민페이", is_pay_service=True),
    _korean("컬리페이", "컬리페이", is_pay_service=True),
    _korean("무신사페이", "무신사페이", is_pay_service=True),
    _korean("제로페이", "제로페이", is_pay_service=True),
    _korean(
        "온누리상품권",
        "디지털온누리상품권,온누리상품권,디지털온누리,온누리페이",
        is_pay_service=True,
    ),
    _korean("지역화폐", "지역화폐,지역사랑상품권,지역사랑화폐", is_pay_service=True),
)
