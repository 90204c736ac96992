"""Names of clients from their user agents, for lists of sessions (spec 2.14)."""

# Of a browser, the first that its user agent contains: most contain those below too.
BROWSERS = (
    ("KAKAOTALK", "KakaoTalk"),
    ("NAVER(", "Naver"),
    ("Whale/", "Whale"),
    ("SamsungBrowser/", "Samsung Internet"),
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("Firefox/", "Firefox"),
    ("FxiOS/", "Firefox"),
    ("CriOS/", "Chrome"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
)
SYSTEMS = (
    ("Windows", "Windows"),
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Android", "Android"),
    ("CrOS", "ChromeOS"),
    ("Macintosh", "macOS"),
    ("Linux", "Linux"),
)
MAX_NAME_LENGTH = 40


def get_client_name(user_agent: str) -> str:
    """Return a name such as "Chrome, Windows".

    It is the first word of the user agent without its version where no browser is
    known, and "" without a user agent.
    """
    browser = _find(BROWSERS, user_agent)
    if browser is None:
        word = user_agent.partition(" ")[0].partition("/")[0]
        return word[:MAX_NAME_LENGTH]
    system = _find(SYSTEMS, user_agent)
    return f"{browser}, {system}" if system else browser


def get_known_client_name(user_agent: str) -> str:
    """Return the name of a browser that is known, else "".

    For mails, which must not carry a text of the client.
    """
    is_known = _find(BROWSERS, user_agent) is not None
    return get_client_name(user_agent) if is_known else ""


def _find(names: tuple[tuple[str, str], ...], user_agent: str) -> str | None:
    return next((name for part, name in names if part in user_agent), None)
