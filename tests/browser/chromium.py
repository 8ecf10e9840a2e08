"""How Chromium is started: headless, quiet, and knowing two names that lead to this machine."""

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP phone.lan 127.0.0.1, MAP elsewhere.example 127.0.0.1",
]
