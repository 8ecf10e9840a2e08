"""Set up libtorrent's session from the settings."""

from typing import Any
from urllib.parse import unquote, urlsplit

import libtorrent as lt

from service.torrents.engine.addresses import ip_filter
from service.torrents.orders import EngineSettings, TransferLimits

MEGABYTE = 2**20
LARGEST_METADATA_BYTES = 64 * MEGABYTE
# More than 2,000 torrents cause in one round.
ALERTS = 50_000
ALERT_MASK = (
    lt.alert_category.error
    | lt.alert_category.port_mapping
    | lt.alert_category.status
    | lt.alert_category.storage
)
FASTEST = 2**31 - 1
# How often libtorrent shares out what rate limits allow. A peer may wait 20 times as long: with the
# default, it would get the bytes of ten seconds at once.
EVENLY = {"tick_interval": 50}

FAST = {
    "send_socket_buffer_size": MEGABYTE,
    "recv_socket_buffer_size": MEGABYTE,
    "max_out_request_queue": 2000,
    # How many seconds' worth to request from a peer. What was requested is still taken when a rate
    # limit is set. Of peers a second away, 2 is as fast as the default of 3, and 1 is slower.
    "request_queue_time": 2,
    "send_buffer_watermark": 4 * MEGABYTE,
    "max_queued_disk_bytes": 64 * MEGABYTE,
    # Hash in the threads that write: that takes a quarter less time here. In separate threads, a
    # piece of wrong data is sometimes taken for fetched, and then never requested again.
    "hashing_threads": 0,
}
BOUNDED = {
    "alert_mask": int(ALERT_MASK),
    "alert_queue_size": ALERTS,
    "connections_limit": 500,
    # Peers of the local network would stay exempt if a limit came after they connected.
    "ignore_limits_on_local_network": False,
    "max_metadata_size": LARGEST_METADATA_BYTES,
    "stop_tracker_timeout": 1,
    "file_pool_size": 100,
    "max_retry_port_bind": 0,
}
SAFE = {
    "ssrf_mitigation": True,
    "validate_https_trackers": True,
    "apply_ip_filter_to_trackers": True,
    "apply_filter_to_dht": True,
    "allow_idna": False,
    "no_connect_privileged_ports": False,
    "webtorrent_stun_server": "",
}
# Peer discovery without trackers: off on loopback, where it would contact strangers, and with a
# proxy, which it would bypass.
FINDERS = ("enable_dht", "enable_lsd")
MAPPERS = ("enable_upnp", "enable_natpmp")
PROXIES = {"socks5": "socks5", "socks5h": "socks5", "http": "http"}


def session_of(settings: EngineSettings) -> Any:
    session = lt.session(pack_of(settings))
    session.set_ip_filter(ip_filter(settings.reach))
    return session


def pack_of(settings: EngineSettings) -> dict[str, Any]:
    return {
        **FAST,
        **BOUNDED,
        **SAFE,
        **listening(settings),
        **meeting(settings),
        **finding(settings),
        **proxy_settings(settings.proxy),
    }


def uses_utp(settings: EngineSettings) -> bool:
    """Return whether to use uTP: never with a proxy, since nothing listens then."""
    return settings.utp and not settings.proxy


def meeting(settings: EngineSettings) -> dict[str, Any]:
    """Return the uTP settings: many peers behind routers can be reached only over uTP.

    It is slower than TCP, so TCP is tried first (see Dialing) and never throttled in its favor.
    """
    return {
        "enable_incoming_utp": uses_utp(settings),
        "enable_outgoing_utp": False,
        "mixed_mode_algorithm": int(lt.bandwidth_mixed_algo_t.prefer_tcp),
    }


def rate_limits(limits: TransferLimits) -> dict[str, Any]:
    return {
        "download_rate_limit": min(limits.download_bytes_per_second or 0, FASTEST),
        "upload_rate_limit": min(limits.upload_bytes_per_second or 0, FASTEST),
    }


def listening(settings: EngineSettings) -> dict[str, Any]:
    """Return where to listen: nowhere with a proxy. On loopback, all peers have one address."""
    if settings.network == "loopback":
        return {
            "listen_interfaces": f"127.0.0.1:{settings.port}",
            "allow_multiple_connections_per_ip": True,
        }
    if settings.proxy:
        return {"listen_interfaces": ""}
    if settings.interface:
        name = f"[{settings.interface}]" if ":" in settings.interface else settings.interface
        only = {"outgoing_interfaces": settings.interface}
        return {"listen_interfaces": f"{name}:{settings.port}", **only}
    return {"listen_interfaces": f"0.0.0.0:{settings.port},[::]:{settings.port}"}


def finding(settings: EngineSettings) -> dict[str, Any]:
    is_open = settings.network == "internet" and not settings.proxy
    maps_port = is_open and settings.port_mapping
    return dict.fromkeys(FINDERS, is_open) | dict.fromkeys(MAPPERS, maps_port)


def proxy_settings(proxy: str) -> dict[str, Any]:
    if not proxy:
        return {}
    parts = urlsplit(proxy)
    kind = PROXIES[parts.scheme] + ("_pw" if parts.username else "")
    return {
        "proxy_type": int(getattr(lt.proxy_type_t, kind)),
        "proxy_hostname": parts.hostname or "",
        "proxy_port": parts.port or 1080,
        "proxy_username": unquote(parts.username or ""),
        "proxy_password": unquote(parts.password or ""),
        "proxy_hostnames": True,
        "proxy_peer_connections": True,
        "proxy_tracker_connections": True,
    }
