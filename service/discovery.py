"""Being found in the room: this machine's addresses, and the name `kiebitz.local`."""

import contextlib
import ipaddress
import socket
from collections.abc import AsyncIterator, Sequence

from zeroconf import Error, IPVersion, ServiceInfo
from zeroconf.asyncio import AsyncZeroconf

NAME = "kiebitz.local"
_SERVICE = "_http._tcp.local."


def room_addresses() -> list[str]:
    """IPv4 addresses of this machine in the room, the most likely one first."""
    found = [_outward_address()]
    with contextlib.suppress(OSError):
        infos = socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)
        found += [str(info[4][0]) for info in infos]
    return [a for a in dict.fromkeys(found) if a and not ipaddress.ip_address(a).is_loopback]


def _outward_address() -> str:
    """The address that this machine would use for speaking to others; nothing is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # an address set aside for examples
        except OSError:
            return ""
        return str(probe.getsockname()[0])


@contextlib.asynccontextmanager
async def announced(port: int, addresses: Sequence[str]) -> AsyncIterator[bool]:
    """Answer to `kiebitz.local` while this lasts; False where the network does not take it."""
    if not addresses:
        yield False
        return
    info = ServiceInfo(
        _SERVICE,
        f"Kiebitz.{_SERVICE}",
        port=port,
        addresses=[socket.inet_aton(address) for address in addresses],
        server=f"{NAME}.",
        properties={"path": "/"},
    )
    try:
        zeroconf = AsyncZeroconf(ip_version=IPVersion.V4Only)
    except OSError:
        yield False
        return
    try:
        await zeroconf.async_register_service(info, allow_name_change=True)
        yield True
    except (Error, OSError):
        yield False
    finally:
        await zeroconf.async_close()
