"""Descriptions of fields that requests and answers share."""


class FieldText(str):
    """The description of a field, with what holds only in requests.

    `requests` is added in every request, `left_out` in all but partial updates, where
    a field that is left out keeps its value.
    """

    __slots__ = ("left_out", "requests")

    requests: str
    left_out: str

    def __new__(
        cls, text: str, *, requests: str = "", left_out: str = ""
    ) -> "FieldText":
        self = super().__new__(cls, text)
        self.requests, self.left_out = requests, left_out
        return self

    def describe(self, *, is_request: bool, is_partial: bool) -> str:
        parts = [str(self)]
        if is_request:
            parts += [self.requests, "" if is_partial else self.left_out]
        return " ".join(filter(None, parts))
