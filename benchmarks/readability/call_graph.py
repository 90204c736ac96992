"""Call chains from a view to the end of its rule."""

from collections import defaultdict

from benchmarks.readability.project import (
    Class,
    Function,
    Project,
    Reference,
)

# Each flow with the dotted paths of the view methods (or tasks) that begin it.
FLOWS: dict[str, tuple[str, ...]] = {
    "purchases": ("billing.views.VerifyPurchaseView.post",),
    "entries": (
        "ledger.views.entries.EntryViewSet.perform_create",
        "ledger.views.entries.EntryViewSet.perform_update",
    ),
    "card notification intake": (
        "ledger.views.card_notifications.CardNotificationViewSet.process_notification",
    ),
    "sessions": (
        "accounts.views.sessions.LoginView.post",
        "accounts.authentication.SessionAuthentication.authenticate",
    ),
    "exchange rate lookup": ("ledger.views.rates.FxRateView.get",),
    "identity login": ("accounts.views.sessions.IdpLoginView.post",),
}
# The mean of the first flows is the one that is compared between versions.
COMPARED_FLOWS = 5
# Calls into these packages count and are not followed, as those into a library.
KERNEL = frozenset({"card_alerts", "config", "core"})
# Imports run from a package to packages on later levels; others are not judged.
LEVELS = (
    ("config",),
    ("administration",),
    ("billing", "board", "ledger"),
    ("accounts",),
    ("core", "card_alerts"),
)


class CallGraph:
    """The calls between functions, and the longest chains of them."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.calls: dict[Function, list[Reference]] = defaultdict(list)
        for each in project.references:
            if each.source and project.is_step(each.target):
                self.calls[each.source].append(each)

    def find_longest(self, path: str) -> list[str]:
        """Return the names on the longest chain that begins at a dotted path."""
        start = self.project.find(path)
        cls = self.project.find(path.rpartition(".")[0])
        if not isinstance(start, Function):
            return []
        receiver = cls if isinstance(cls, Class) else None
        return self._follow(start, receiver, {}, frozenset({start}))

    def _follow(
        self,
        function: Function,
        receiver: Class | None,
        known: dict[tuple[Function, Class | None], list[str]],
        above: frozenset[Function],
    ) -> list[str]:
        key = (function, receiver)
        if key not in known:
            longest: list[str] = []
            is_end = function.module.package in KERNEL
            for call in () if is_end else self.calls[function]:
                cls = receiver if call.via else call.receiver
                target = self._dispatch(call, cls)
                if target not in above:
                    chain = self._follow(target, cls, known, above | {target})
                    longest = max(longest, chain, key=len)
            known[key] = [function.name, *longest]
        return known[key]

    def _dispatch(self, call: Reference, receiver: Class | None) -> Function:
        """Return the method that runs: of `self`, that of the receiver's own class."""
        found = self.project.get_member(receiver, call.target.node.name)
        if call.via == "self" and isinstance(found, Function):
            return found
        return call.target
