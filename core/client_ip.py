"""Where a request comes from: the address that limits and sessions go by."""

from ipaddress import IPv6Address, ip_address, ip_network

from django.conf import settings
from django.http import HttpRequest

IPV6_PREFIX_LENGTH = 64
"""One household or server gets a whole /64, so that is what counts as one."""


def get_client_ip(request: HttpRequest) -> str:
    """The peer, or the address that the outermost trusted proxy saw.

    With `TRUSTED_PROXY_COUNT` n the n-th entry from the right of X-Forwarded-For
    counts; what stands further left was written by the client and is ignored.
    """
    peer: str = request.META.get("REMOTE_ADDR", "")
    count: int = settings.TRUSTED_PROXY_COUNT
    if not count:
        return peer
    hops = [
        hop.strip() for hop in request.headers.get("X-Forwarded-For", "").split(",")
    ]
    if len(hops) < count:
        return peer
    return hops[-count] if _is_ip_address(hops[-count]) else peer


def rate_limit_key(address: str) -> str:
    """The address as limits count it: IPv6 by /64, mapped IPv4 as IPv4."""
    if not _is_ip_address(address):
        return "unknown"
    parsed = ip_address(address)
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
