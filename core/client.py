"""The client of a request."""

from dataclasses import dataclass
from functools import cached_property

# The first match counts: most user agents also contain later parts.
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


@dataclass
class Client:
    address: str = ""
    user_agent: str = ""
    session_key_hash: str | None = None

    @cached_property
    def browser(self) -> str:
        """Return a name such as "Chrome, Windows", "" for an unknown browser."""
        agent = self.user_agent
        browser = next((name for part, name in BROWSERS if part in agent), "")
        system = next((name for part, name in SYSTEMS if part in agent), "")
        return f"{browser}, {system}" if browser and system else browser

    @cached_property
    def name(self) -> str:
        word = self.user_agent.partition(" ")[0].partition("/")[0]
        return self.browser or word[:MAX_NAME_LENGTH]
