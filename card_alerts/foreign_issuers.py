"""Issuers that write in English or Japanese."""

from functools import partial

from card_alerts.issuer import Issuer


def _issuer(
    name: str,
    aliases: str = "",
    dollar_currency: str = "USD",
    packages: str = "",
    phrases: tuple[str, ...] = (),
    *,
    is_day_first: bool = False,
) -> Issuer:
    """Return a row; aliases are separated by commas, packages by spaces."""
    return Issuer(
        name,
        (name, *filter(None, aliases.split(","))),
        packages=tuple(packages.split()),
        phrases=phrases,
        dollar_currency=dollar_currency,
        is_day_first=is_day_first,
    )


_day_first = partial(_issuer, is_day_first=True)


def _list(names: str, *, is_day_first: bool = False) -> list[Issuer]:
    return [_issuer(name, is_day_first=is_day_first) for name in names.split(", ")]


ENGLISH = (
    *_list(
        "Huntington, Citizens, PNC, USAA, Synchrony, Truist, Regions, KeyBank, "
        "Fifth Third, Ally, Barclays US, SoFi, Chime, PayPal, Robinhood, Navy Federal, "
        "Apple Card"
    ),
    _issuer("Chase", packages="chase"),
    _issuer("Discover", packages="discoverfinancial"),
    _issuer("Capital One", packages="konylabs.capitalone"),
    _issuer("Venmo", packages="venmo"),
    _issuer("Citi", "Citibank,Citi Alert,CitiBank", packages="com.citi."),
    _issuer("Amex", "American Express,AMEX,AmEx", packages="americanexpress"),
    _issuer("Bank of America", "BofA,BankofAmerica,BoA", packages="infonow.bofa"),
    _issuer("Wells Fargo", "WellsFargo", packages="com.wf."),
    _issuer("US Bank", "U.S. Bank,USBank", packages="usbank"),
    _issuer("TD", "TD Bank,TD Canada"),
    _issuer("RBC", "Royal Bank of Canada", "CAD"),
    _issuer("BMO", "Bank of Montreal", "CAD"),
    _issuer("Scotiabank", "Scotia", "CAD"),
    _issuer("CIBC", "", "CAD"),
    _day_first("HDFC", "HDFC Bank,HDFCBK,HDFCBank", packages="snapwork.hdfc hdfc"),
    _day_first("ICICI", "ICICI Bank,ICICIB,ICICIBank"),
    _day_first(
        "SBI",
        "SBI Card,SBICRD,SBI Credit,State Bank of India",
        packages="com.sbi ge.capital.konysbi",
    ),
    _day_first("Monzo", packages="getmondo monzo"),
    _day_first("Revolut", packages="revolut"),
    _day_first("N26", packages="number26"),
    _day_first("Axis", "Axis Bank,AxisBank,AXISBK", phrases=("Spent\nCard no.",)),
    *_list(
        "Kotak, IndusInd, IDFC FIRST, Yes Bank, RBL, Federal Bank, IDBI, Canara, "
        "OneCard, AU Bank, Bank of Baroda, Union Bank, POSB, UOB, Standard Chartered, "
        "Maybank, CIMB, ADCB, FAB, Mashreq, SIB, ADIB, Dubai Islamic, RAKBANK, QNB, "
        "Starling, Wise, Barclays, Lloyds, NatWest, Santander, Halifax, Nationwide, "
        "HSBC, Amex UK, Virgin Money, First Direct, Metro Bank, Tesco Bank, bunq, ING, "
        "Deutsche Bank, Commerzbank, BNP Paribas, Klarna, Curve, Vivid, "
        "Trade Republic, Bank of Ireland, AIB, Rabobank, ABN AMRO, UniCredit, "
        "Intesa Sanpaolo, BBVA, CaixaBank, BDO, BPI, Krungsri",
        is_day_first=True,
    ),
    _day_first("DBS", "DBS/POSB", "SGD"),
    _day_first("OCBC", "", "SGD"),
    _day_first("Emirates NBD", "ENBD,EmiratesNBD"),
    _day_first("Hang Seng", "", "HKD"),
    _day_first("CommBank", "Commonwealth Bank,CBA", "AUD"),
    _day_first("Westpac", "", "AUD"),
    _day_first("ANZ", "", "AUD"),
    _day_first("NAB", "", "AUD"),
    _day_first("Up", "Up Bank", "AUD"),
)


JAPANESE = (
    _issuer("三井住友", "SMBC,三井住友カード,Vpass"),
    _issuer("楽天", "楽天カード,Rakuten", packages="rakuten"),
    _issuer("三菱UFJ", "三菱UFJニコス,MUFG,MUFGカード,三菱UFJカード"),
    _issuer("みずほ"),
    _issuer("イオン", "イオンカード,AEON"),
    _issuer("エポス", "エポスカード,EPOS"),
    _issuer("セゾン", "セゾンカード,クレディセゾン,SAISON"),
    _issuer("dカード", "dcard"),
    _issuer("PayPay", "PayPayカード,ペイペイ"),
    _issuer("au PAY", "auPAY,au PAYカード,auじぶん"),
    _issuer("アメックス", "アメリカン・エキスプレス,アメリカン エキスプレス"),
    _issuer("オリコ", "オリコカード,Orico"),
    _issuer("ビューカード", "VIEWカード,ビュー・スイカ"),
    _issuer("ジャックス", "JACCS,ジャックスカード"),
    _issuer("ポケットカード"),
    _issuer("ライフカード"),
    _issuer("セディナ", "CEDYNA"),
    _issuer("UCカード", "ユーシーカード"),
    _issuer("JCB", "JCBカード"),
    _issuer("リクルートカード"),
    _issuer("メルカード", "メルカリ"),
    _issuer("Kyash"),
    _issuer("ソニー銀行"),
    _issuer("住信SBIネット銀行", "住信SBI"),
    _issuer("ダイナース", "Diners"),
)
