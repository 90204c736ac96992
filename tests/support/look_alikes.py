"""Texts outside ASCII that look like, or fold to, a name in ASCII."""

LOOK_ALIKES = {
    "mıke": "mike",
    "ſiteadmin": "siteadmin",
    "\u212aim": "kim",
    "ｍｉｋｅ": "mike",
    "ﬁona": "fiona",
    "ⓜike": "mike",
    "mіke": "mike",  # the second letter is Cyrillic
    "mi\u00adke": "mike",
    "mi\u200dke": "mike",
}
