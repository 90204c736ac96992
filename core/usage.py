"""What clients have used in the last seconds.

Forward decay: an amount weighs more the later it comes, so that weights of all clients
compare without being updated (Cormode et al., "Forward Decay", ICDE 2009).
"""

HALF_LIFE_SECONDS = 5.0
# Weights grow by a factor of 2**60 in this time; then they are scaled down.
MAX_AGE_SECONDS = 60 * HALF_LIFE_SECONDS
# A smaller amount is forgotten then.
MIN_SECONDS = 0.001


class DecayingUsage:
    """Seconds that are halved every `HALF_LIFE_SECONDS`, by client."""

    def __init__(self) -> None:
        self._weights: dict[str, float] = {}
        self._started_at = 0.0

    def add(self, client: str, seconds: float, now: float) -> None:
        if now - self._started_at > MAX_AGE_SECONDS:
            self._rescale(now)
        weight = seconds * 2 ** self._get_half_lives(now)
        self._weights[client] = self._weights.get(client, 0.0) + weight

    def get_seconds(self, client: str, now: float) -> float:
        weight = self._weights.get(client, 0.0)
        # A negative power may underflow, but not overflow.
        return weight * 2 ** -self._get_half_lives(now) if weight else 0.0

    def _get_half_lives(self, now: float) -> float:
        return (now - self._started_at) / HALF_LIFE_SECONDS

    def _rescale(self, now: float) -> None:
        left = {client: self.get_seconds(client, now) for client in self._weights}
        self._weights = {
            client: seconds for client, seconds in left.items() if seconds > MIN_SECONDS
        }
        self._started_at = now
