#!/bin/sh
# Install Ferry on Debian as a service, from the folder that has this file. Run it as root.
#   sh install.sh              installs or upgrades it
#   sh install.sh --uninstall  removes it, and keeps /var/lib/ferry with all files and settings
set -eu
cd "$(dirname "$0")"
# The user ferry must be able to read what root installs.
umask 022

say() { echo "install.sh: $*" >&2; }
has_systemd() { [ -d /run/systemd/system ]; }

[ "$(id -u)" = 0 ] || { say "run this as root"; exit 1; }

if [ "${1:-}" = --uninstall ]; then
  ! has_systemd || systemctl disable --quiet --now ferry || true
  rm -rf /opt/ferry /etc/systemd/system/ferry.service
  ! has_systemd || systemctl daemon-reload
  say "Ferry is gone. Its data is still in /var/lib/ferry, and belongs to the user ferry."
  exit 0
fi

wheel=$(echo ferry_server-*-py3-none-any.whl)
for file in "$wheel" requirements.lock ferry.service; do
  # Without its own line in SHA256SUMS, a file would not be checked.
  if ! grep -F "  $file" SHA256SUMS | sha256sum --check --status; then
    say "$file is missing or damaged; download this release again"
    exit 1
  fi
done
if ! python3 -c 'import ensurepip, sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
  say "Ferry needs Python 3.11 or newer: apt install python3-venv"
  exit 1
fi

# The new packages replace the old ones only when all of them have arrived.
rm -rf /opt/ferry.new
python3 -m venv /opt/ferry.new
/opt/ferry.new/bin/python -m pip install --quiet --disable-pip-version-check --only-binary :all: --require-hashes \
  --requirement requirements.lock
/opt/ferry.new/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-index "./$wheel"
# Programs name the Python of their folder in the first line.
sed -i '1s|/opt/ferry.new/|/opt/ferry/|' /opt/ferry.new/bin/ferry
! has_systemd || systemctl stop --quiet ferry 2>/dev/null || true
rm -rf /opt/ferry
mv /opt/ferry.new /opt/ferry

id ferry >/dev/null 2>&1 || useradd --system --home-dir /var/lib/ferry --shell /usr/sbin/nologin ferry
install -d -m 700 -o ferry -g ferry /var/lib/ferry
install -D -m 644 ferry.service /etc/systemd/system/ferry.service
if has_systemd; then
  systemctl daemon-reload
  systemctl enable --quiet --now ferry
  say "Ferry runs. The link that makes you its owner: journalctl --unit ferry"
else
  say "Without systemd, start Ferry with:"
  say "setpriv --reuid=ferry --regid=ferry --clear-groups env DATA_DIR=/var/lib/ferry /opt/ferry/bin/ferry run"
fi
