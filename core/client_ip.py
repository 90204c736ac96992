"""The client's IP address."""

from ipaddress import IPv6Address, ip_address, ip_network

from django.conf import settings
from django.http import HttpRequest

# Providers assign a /64 to each household or server.
IPV6_PREFIX_LENGTH = 64
# The key of clients whose peer has no address.
UNKNOWN_ADDRESS = "unknown"


def get_client_ip(request: HttpRequest) -> str:
    meta = request.META
    return find_client_address(
        meta.get("REMOTE_ADDR", ""), meta.get("HTTP_X_FORWARDED_FOR", "")
    )


def find_client_address(peer: str, forwarded_for: str) -> str:
    """Return the address of the peer or of the outermost trusted proxy's client.

    With n proxies it is the n-th entry from the right of X-Forwarded-For; clients may
    forge the entries before it.
    """
    proxies: int = settings.TRUSTED_PROXY_COUNT
    if not proxies:
        return peer
    hops = [hop.strip() for hop in forwarded_for.split(",")]
    if len(hops) < proxies:
        return peer
    return hops[-proxies] if _is_ip_address(hops[-proxies]) else peer


def rate_limit_key(address: str) -> str:
    try:
        parsed = ip_address(address)
    except ValueError:
        return UNKNOWN_ADDRESS
    if isinstance(parsed, IPv6Address):
        if parsed.ipv4_mapped:
            return str(parsed.ipv4_mapped)
        return str(ip_network((parsed, IPV6_PREFIX_LENGTH), strict=False))
    return str(parsed)


def _is_ip_address(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return True
