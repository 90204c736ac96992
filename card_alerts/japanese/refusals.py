"""Decide whether a Japanese text is a payment, and which kind."""

import re
from typing import NamedTuple

from card_alerts.patterns import pattern
from card_alerts.result import Reason
from card_alerts.tables import alternatives, read_words

_WORDS = read_words("words.toml")
_PASSWORD = pattern(
    alternatives(_WORDS["japanese_passwords"]), example="JCB ワンタイム"
)
_STATEMENT = pattern(
    r"""
    お?支払い?(?:日(?!時)|予定|期限) | 明細書 | 代金明細
    | 引き?落とし | 引落[金日] | ご?請求 | 振替 | お支払い?のご案内 | 清算 | 年会費
    """,
    example="お支払い日",
)
# Words of a statement; completed payments and those with a place have them, too.
_WEAK_STATEMENT = pattern(r"支払い?金額|明細", example="お支払い金額のお知らせ")
# 今月のご利用額, ご利用額が30,000円を超えました
_SUM = pattern(
    r"""
    (?:[今先]月|\d{1,2}月分?|今週|先週|昨日まで)の?(?:ご?利用|お?支払い?|お?買い?物)
    (?:金?額|合計|総額|件数|状況)
    | \d{1,2}月分?の?(?:お?支払い?|ご?請求)[ :]
    | ご?利用(?:合計|累計|状況|可能) | を?超え(?:ました|た) | 設定額 | 達し | ごとに
    | 次回 | 翌月 | 来月 | 予算 | 利用枠 | のうち
    """,
    example="11月のご利用合計",
)
_TRANSFER = pattern(
    alternatives(_WORDS["japanese_transfers"])
    + r"""
    | チャージ(?:が|を)?(?:しま|完了|され|いたしま|のお知らせ|[ ]?[\d¥])
    | [\d円][ ]?(?:を|の)?チャージ
    """,
    example="チャージしました",
)
# A month in one text
_MONTHLY = pattern(
    r"利用明細\(?月次|月次ご?利用明細|総(?:ご)?利用額", example="月次利用明細"
)
# A balance that grew and the debit of an account, with the labels of a payment
_TOP_UP = pattern(
    r"""
    (?<![・ャ])(?<!グ/)キャッシング(?:を|の)?(?:ご?利用(?!可能)|お知らせ|\n|$|[ :】])
    | ATM(?:で|の|での)?(?:お?引き?出し|出金)
    | 残高へのチャージ | チャージ(?:金額|日時) | チャージ(?:[(][^()\n]{1,6}[)])?が完了
    | 口座から(?:の)?お?引き?落とし | 残高[をに]追加
    """,
    example="残高へのチャージが完了",
)
_ADVERT = pattern(alternatives(_WORDS["japanese_adverts"]), example="上のご利用で最大")
# ポイント88pt獲得!
_POINTS = pattern(
    r"""
    (?:ポイント|\dpt)[^\n]{0,20}(?:獲得|付与|進呈|加算|還元|貯ま|たま)
    """,
    example="120ポイント付与",
)
# 支払い依頼, 支払い待ち
_REQUEST = pattern(
    r"""
    依頼 | リクエスト | 支払い?待ち | (?:お?支払い?|ご?利用|決済|ご?請求)予定
    | (?:お?支払い|決済)(?:を)?(?:ください|お願い)
    | (?:更新|決済|課金)されます | 近づいて | 未払い | 督促
    | (?:完了して|されて|取れて)いません | お振り込み
    """,
    example="支払い依頼が届きました",
)
# Words of an order or a changed setting; completed payments have them, too.
_ORDER = pattern(
    r"""
    ご?注文 | 発送 | 配達 | お?申し?込み | 申請 | 変更 | 予約 | 受け?付け | 承りました
    """,
    example="お申し込みを承りました",
)
# Tests, and examples of a message
_EXAMPLE = pattern(
    r"""
    テスト(?:配信|通知|送信) | サンプル[〕】)\]] | のような通知
    | 実際の(?:決済|お?支払い?|お?取引|ご?利用)(?:は|では)[^\n。]{0,12}
      (?:ありません|していません)
    """,
    example="テスト配信です。実際の決済は発生していません。",
)
# Questions about a payment, and notes on blocked cards.
_BAIT = pattern(
    r"""
    ご?利用(?:内容)?の?(?:ご)?確認(?:のお願い|はこちら|が必要)
    | ご?(?:利用|取引|決済|お取引)(?:が|を|は)?(?:一時的?に?|一時)?
      (?:停止|保留|制限)(?:し(?!たい)|いた|させ|され|中)
    | (?:カード|アカウント|口座|サービス)[^\n。]{0,12}(?:停止|保留|制限|凍結|ロック)
      (?:し(?!たい)|いた|させ|され|中)
    | 心当たり(?:は|が)?(?:ございますか|ありますか|ございましたら|のご?確認)
    | 本人(?:様)?(?:の)?(?:ご)?(?:利用)?(?:で|か)(?:しょうか|すか|どうか)
    | 本人様?(?:の)?(?:ご)?確認(?:はこちら|をお願い|が必要|を行)
    | 返信して?ください | (?:手続き|更新)がない場合 | 添付ファイル | \+1[ ]?\(
    | (?:取消|取り消し|キャンセル)(?:する)?(?:に)?は(?:こちら|サポート|[ ]?[\d+])
    | 場合は[ ]?0[5789]0-?\d{4}-?\d{4}
    | (?:疑い|至急|緊急)[^\n。]{0,30}(?:ご?連絡|お電話)
    | 検知され | 確認(?:手続き?をお|にご協力|のお手続き)
    | 不審な(?:ご?利用|決済|お?取引)[がを]
    | (?:現地|当日|店頭|窓口)(?:にて|で)?(?:の)?お?支払い?(?:ください|いただ|とな|下さ)
    | 決済を確認してください | 24時間以内 | を(?:検知|検出)し
    | (?:取引|利用|決済|支払い?)[^\n。]{0,12}(?:ました|です)か(?![ぁ-ん])
    """,
    example="カードのご利用を一時停止しました",
    initials="ご利取決おカア口サ心本返手更添+キ場疑至緊検確不現当店窓2を支",
)
_LINK = pattern(r"h(?:tt|xx)ps?://|www\.|こちら", example="確認はこちら")
_DOUBTED = pattern(
    r"""
    (?:身に)?覚えの?が?(?:ない|ありません)|心当たり|不正|第三者|至急|緊急|解除
    | 本人(?:様)?の?(?:お?取引|ご?利用)?で(?:は)?ない
    """,
    example="身に覚えがない場合",
)
# A push of Suica has no word for a fare.
_FARE = r"(?:Suica|PASMO|ICOCA)[^\n]{0,20}[ \n]-[ ]?[\d,]{1,7}円[ \n]{1,2}残高"
# Wallets on phones: たぬき書店⏎¥742(Visa ••3391), or their name above both
_WALLET = r"""
    \A(?:
        [^\n]{2,60}\n¥\d[\d,]{0,9}[ ]?\((?:Visa|Mastercard|JCB|Amex)[ ][•·]{2,4}\d{4}\)
        | (?:Samsung|Apple|Google)[ ](?:Pay|Wallet)\n[^\n]{2,40}[ ]¥\d[\d,]{0,9}
    )\s*$
"""
# 決済完了, ご利用のお知らせ, カード決済:, 160円のお支払い
_EVENT = pattern(
    rf"""
    (?:利用|使用|支払い?|決済|買い?物|購入|取引|取消|返品|キャンセル|返金)
    [^\n。]{{0,14}}(?:完了|領収|知らせ|通知|速報|連絡|内容|明細|ました|され|済|あり(?:がとう|ました))
    | (?:取消|取り消し|返金|返品|キャンセル)(?:し|済み?)?(?:[ :】]|$)
    | (?<=で)(?:お?支払い?|決済|ご?利用)[ :] | (?:決済|お?支払い?|ご?利用)】
    | 残高から支払 | (?:使|つか)いました
    | (?:^|(?<=[\n。]))[ 【]?(?:カード|デビット)?
      (?:お?支払い?|決済|ご?利用|お?買い?物)[ :】]
    | (?<=[A-Za-zァ-ヶー])(?:お?支払い?|決済|ご?利用)[ :]
    # WAON ご利用 350円
    | (?:^|(?<=[\n。]))[A-Za-zァ-ヶー・一-龯]{{2,12}}[ ]
      (?:お?支払い?|決済|ご?利用額?)[ ](?=[¥\d])
    | [円\d][ ]?の?(?:お?支払い?|決済|ご?利用|お?買い?物)[ 。!]*(?:\n|$|\()
    | {_FARE} | {_WALLET} | の領収書
    """,
    example="160円のお支払い",
)
# Completed payments outweigh the words of an advert.
_PAID = pattern(
    r"""
    (?:お?支払い?|決済|お?買い?物)[がをは]?(?:正常に)?
    (?:完了(?!後|次第)|い?たし?ました|しました|され)
    | 支払い?\([^()\n]{1,20}\)が完了 | つかいました
    | 支払いました | ご?利用が?(?:あり|ござい)ました | ご?利用(?:いただき|され|し)ました
    | 使いました | 領収(?:書|いたし|致し) | ご?購入(?:が完了|(?:いただき)?ありがとう)
    | 確認が完了
    | ご?返金(?:の)?(?:お)?手続き?が完了 | (?:返金|キャンセル|取り?消)さ?れ
    """,
    example="690円支払いました",
)
# A receipt, and a bill that a card paid
_RECEIPT = pattern(
    r"""
    領収(?:書(?:です|を|$|\n)|いたし|致し)
    | クレジットカード[^\n。]{0,16}から[\d,]{1,12}円のお支払いが完了
    """,
    example="上記金額を正に領収いたしました",
)
_DECLINED = pattern(
    r"""
    (?:いただ|頂)け(?:ません(?:でした)?|なかった)(?!場合)
    | できません | できなかった | 承認されません | 否決 | 利用不可 | ご利用になれません
    | エラー | 失敗 | 拒否 | 不成立 | 残高不足 | 残高が(?:不足|足り) | 不承認
    """,
    example="頂けませんでした",
)
_CANCELLED = pattern(
    r"""
    (?:取消|取り消[しさ]|キャンセル|返金|返品)
    (?!料|手数料|不可|(?:・[^\n。]{1,8})?(?:さ?れた|した|の|等の|があった)?場合)
    """,
    example="取消のお知らせ\n",
)
# 返金のお手続きを受け付けました
_CANCELLATION_TO_COME = pattern(
    r"""
    (?:取消|取り消し|キャンセル|返金|返品)[^\n。]{0,12}
    (?:受け?付け?|手続き(?!が完了)|申請|依頼|予定|承り|開始)
    | 後日[^\n。]{0,8}返金 | 返金(?:いた|され|し)ます
    """,
    example="返金のお手続き",
)
_PARTIAL = pattern(r"一部|部分", example="一部返金 ご利用")
_USED = pattern(
    rf"""
    利用 | 使用 | 決済 | 取引が完了 | 支払い? | 買い?物 | 買い?上げ | 承認 | 購入
    | (?:使|つか)いました | 領収 | {_FARE} | {_WALLET}
    """,
    example="ご利用のお知らせ",
)
# "Not a bill yet": ご請求を確定するものではございません。
_NOT_A_BILL = pattern(
    r"[^\n。]{0,60}確定するものでは(?:ございません|ありません)",
    example="ご請求を確定するものではございません",
)
_NOTE = pattern(
    r"(?:^|(?<=[\n。 ]))[※(]?(?:※|注[)])[^\n]{0,400}", example="※キャンセルの場合も"
)


# 決済が完了しました。次回請求日:2026年12月16日
_NEXT_DAY = pattern(
    r"""
    次回(?:の)?(?:ご?請求|お?支払い?|更新|決済)(?:日|[ ](?=\d))[^\n。]{0,20}
    # Below a payment: the sum of the month, and the days until it is booked
    | (?<=[。\n])今月の(?:ご)?利用(?:合計|総額|金?額)[ :]{0,2}[\d,]{1,12}円[^\n]{0,40}
    | (?<=[。\n])ご?利用可能(?:額|枠|残高)[ :]{0,2}[\d,]{1,12}円
    | 詳細は[^\n。]{0,24}明細[^\n。]{0,20} | カード会社の締日[^\n]{0,80}
    | 売り手の代行として[^\n]{0,60}
    """,
    example="次回請求日:12月",
)


def remove_notes(text: str) -> str:
    """Blank the notes of a mail, whose words are not of the payment."""
    if "※" in text or "注)" in text:
        text = _NOTE.sub(_blank, text)
    if any(
        word in text
        for word in ("次回", "今月の", "利用可能", "締日", "代行", "詳細は")
    ):
        text = _NEXT_DAY.sub(_blank, text)
    return _NOT_A_BILL.sub(_blank, text) if "確定する" in text else text


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])


def find_decline(text: str) -> re.Match[str] | None:
    return _DECLINED.search(text)


def find_cancellation(text: str) -> re.Match[str] | None:
    return _CANCELLED.search(text)


def find_use(text: str) -> re.Match[str] | None:
    return _USED.search(text)


def is_partial_refund(text: str) -> bool:
    return _PARTIAL.search(text) is not None


class Told(NamedTuple):
    """The fields of a payment in a text."""

    by_labels: bool
    name: bool
    day: bool
    time: bool
    # Name, amount and card, and nothing else.
    all_fields: bool


def find_reason(text: str, told: Told) -> Reason | None:
    """Return the reason why a text is no payment, None if it may be one."""
    if _PASSWORD.search(text):
        return Reason.ONE_TIME_PASSWORD
    if _BAIT.search(text) or _EXAMPLE.search(text):
        return Reason.NO_PAYMENT
    if _MONTHLY.search(text):
        return Reason.STATEMENT
    if _TOP_UP.search(text):
        return Reason.BANK_TRANSFER
    if told.by_labels:
        return None
    is_bare = not (told.name and told.day)
    if is_bare and _LINK.search(text) and _DOUBTED.search(text):
        return Reason.NO_PAYMENT
    reason = _find_other_message(text, told)
    if reason or told.day or told.all_fields or _EVENT.search(text):
        return reason
    return Reason.NO_PAYMENT


def _find_other_message(text: str, told: Told) -> Reason | None:
    is_paid = _PAID.search(text) is not None
    if _is_statement(text, is_told=is_paid or (told.name and told.time)):
        return Reason.STATEMENT
    if _CANCELLATION_TO_COME.search(text) or _REQUEST.search(text):
        return Reason.NO_PAYMENT
    if not is_paid and _ORDER.search(text):
        return Reason.NO_PAYMENT
    if not is_paid and (_ADVERT.search(text) or _POINTS.search(text)):
        return Reason.ADVERT
    is_transfer = not _RECEIPT.search(text) and _TRANSFER.search(text)
    return Reason.BANK_TRANSFER if is_transfer else None


def _is_statement(text: str, *, is_told: bool) -> bool:
    if _RECEIPT.search(text):
        return False
    if _STATEMENT.search(text) or _SUM.search(text):
        return True
    return not is_told and _WEAK_STATEMENT.search(text) is not None
