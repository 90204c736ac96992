"""Companies whose messages are English or Japanese; a new one is a row here."""

from ledger.notifications.issuer import Issuer


def _english(
    name: str, aliases: str = "", dollar: str = "USD", packages: str = ""
) -> Issuer:
    names = (name, *filter(None, aliases.split(",")))
    return Issuer(name, names, packages=tuple(packages.split()), dollar=dollar)


def _day_first(
    name: str, aliases: str = "", dollar: str = "USD", phrases: tuple[str, ...] = ()
) -> Issuer:
    names = (name, *filter(None, aliases.split(",")))
    return Issuer(name, names, phrases=phrases, dollar=dollar, day_first=True)


ENGLISH = (
    *map(
        _english,
        [
            "Chase",
            "Discover",
            "Huntington",
            "Capital One",
            "Citizens",
            "PNC",
            "USAA",
            "Synchrony",
            "Truist",
            "Regions",
            "KeyBank",
            "Fifth Third",
            "Ally",
            "Barclays US",
            "SoFi",
            "Chime",
            "Venmo",
            "PayPal",
            "Robinhood",
            "Navy Federal",
            "Apple Card",
        ],
    ),
    _english("Citi", "Citibank,Citi Alert,CitiBank"),
    _english("Amex", "American Express,AMEX,AmEx"),
    _english("Bank of America", "BofA,BankofAmerica,BoA"),
    _english("Wells Fargo", "WellsFargo"),
    _english("US Bank", "U.S. Bank,USBank"),
    _english("TD", "TD Bank,TD Canada"),
    _english("RBC", "Royal Bank of Canada", "CAD"),
    _english("BMO", "Bank of Montreal", "CAD"),
    _english("Scotiabank", "Scotia", "CAD"),
    _english("CIBC", "", "CAD"),
    _day_first("HDFC", "HDFC Bank,HDFCBK,HDFCBank"),
    _day_first("ICICI", "ICICI Bank,ICICIB,ICICIBank"),
    _day_first("SBI", "SBI Card,SBICRD,SBI Credit,State Bank of India"),
    _day_first("Axis", "Axis Bank,AxisBank,AXISBK", phrases=("Spent\nCard no.",)),
    *map(
        _day_first,
        [
            "Kotak",
            "IndusInd",
            "IDFC FIRST",
            "Yes Bank",
            "RBL",
            "Federal Bank",
            "IDBI",
            "Canara",
            "OneCard",
            "AU Bank",
            "Bank of Baroda",
            "Union Bank",
            "POSB",
            "UOB",
            "Standard Chartered",
            "Maybank",
            "CIMB",
            "ADCB",
            "FAB",
            "Mashreq",
            "ADIB",
            "Dubai Islamic",
            "RAKBANK",
            "QNB",
            "Monzo",
            "Revolut",
            "Starling",
            "N26",
            "Wise",
            "Barclays",
            "Lloyds",
            "NatWest",
            "Santander",
            "Halifax",
            "Nationwide",
            "HSBC",
            "Amex UK",
            "Virgin Money",
            "First Direct",
            "Metro Bank",
            "Tesco Bank",
            "bunq",
            "ING",
            "Deutsche Bank",
            "Commerzbank",
            "BNP Paribas",
            "Klarna",
            "Curve",
            "Vivid",
            "Trade Republic",
            "Bank of Ireland",
            "AIB",
            "Rabobank",
            "ABN AMRO",
            "UniCredit",
            "Intesa Sanpaolo",
            "BBVA",
            "CaixaBank",
        ],
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


def _japanese(name: str, aliases: str = "") -> Issuer:
    return Issuer(name, (name, *filter(None, aliases.split(","))))


JAPANESE = (
    _japanese("三井住友", "SMBC,三井住友カード,Vpass"),
    _japanese("楽天", "楽天カード,Rakuten"),
    _japanese("三菱UFJ", "三菱UFJニコス,MUFG,MUFGカード,三菱UFJカード"),
    _japanese("みずほ"),
    _japanese("イオン", "イオンカード,AEON"),
    _japanese("エポス", "エポスカード,EPOS"),
    _japanese("セゾン", "セゾンカード,クレディセゾン,SAISON"),
    _japanese("dカード", "dcard"),
    _japanese("PayPay", "PayPayカード,ペイペイ"),
    _japanese("au PAY", "auPAY,au PAYカード,auじぶん"),
    _japanese("アメックス", "アメリカン・エキスプレス,アメリカン エキスプレス"),
    _japanese("オリコ", "オリコカード,Orico"),
    _japanese("ビューカード", "VIEWカード,ビュー・スイカ"),
    _japanese("ジャックス", "JACCS,ジャックスカード"),
    _japanese("ポケットカード"),
    _japanese("ライフカード"),
    _japanese("セディナ", "CEDYNA"),
    _japanese("UCカード", "ユーシーカード"),
    _japanese("JCB", "JCBカード"),
    _japanese("リクルートカード"),
    _japanese("メルカード", "メルカリ"),
    _japanese("Kyash"),
    _japanese("ソニー銀行"),
    _japanese("ダイナース", "Diners"),
)
