#!/bin/sh
# Install Ferry on Debian as a service, from the folder that has this file. Run it as root.
#   sh install.sh              installs or upgrades it
#   sh install.sh --uninstall  removes it, and keeps /var/lib/ferry and /etc/ferry.env: all files and settings
set -eu
cd "$(dirname "$0")"
# The user ferry must be able to read what root installs.
umask 022

say() { echo "install.sh: $*" >&2; }
refuse() { say "$*"; exit 1; }
has_systemd() { [ -d /run/systemd/system ]; }

[ "$(id -u)" = 0 ] || refuse "run this as root"
[ ! -e /opt/ferry ] || [ -f /opt/ferry/pyvenv.cfg ] || refuse "/opt/ferry isn't Ferry; move it elsewhere"
if [ -e /usr/local/bin/ferry ] && ! grep -q /opt/ferry/bin/ferry /usr/local/bin/ferry; then
  refuse "/usr/local/bin/ferry is another program; move it elsewhere"
fi

if [ "${1:-}" = --uninstall ]; then
  ! has_systemd || systemctl disable --quiet --now ferry || true
  rm -rf /opt/ferry /opt/ferry.new /usr/local/bin/ferry /etc/systemd/system/ferry.service
  ! has_systemd || systemctl daemon-reload
  say "Ferry is gone. Its data is still in /var/lib/ferry, and belongs to the user ferry."
  exit 0
fi

set -- ferry_server-*-py3-none-any.whl
[ $# = 1 ] || refuse "this folder has several releases ($*); keep one"
wheel=$1
for file in "$wheel" requirements.lock ferry.service; do
  # Without its own line in SHA256SUMS, a file would not be checked.
  grep -F "  $file" SHA256SUMS | sha256sum --check --status ||
    refuse "$file is missing or damaged; download this release again"
done
# Isolated (-I), Python runs no file of this folder in place of its own modules.
python3 -I -c 'import ensurepip, sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null ||
  refuse "Ferry needs Python 3.11 or newer: apt install python3-venv"

# The new packages replace the old ones only when all of them have arrived.
rm -rf /opt/ferry.new
python3 -I -m venv /opt/ferry.new
pip() { /opt/ferry.new/bin/python -I -m pip --quiet --disable-pip-version-check "$@"; }
pip install --only-binary :all: --require-hashes --requirement requirements.lock
pip install --no-deps --no-index "./$wheel"
# Programs name the folder of their Python.
grep -lI /opt/ferry.new /opt/ferry.new/bin/* /opt/ferry.new/pyvenv.cfg |
  xargs sed -i 's|/opt/ferry\.new|/opt/ferry|g'

id ferry >/dev/null 2>&1 || useradd --system --home-dir /var/lib/ferry --shell /usr/sbin/nologin ferry
install -d -m 700 -o ferry -g ferry /var/lib/ferry
# The file may have passwords, and the command below reads it as the user ferry.
[ -e /etc/ferry.env ] || : >/etc/ferry.env
chown root:ferry /etc/ferry.env
chmod 640 /etc/ferry.env

! has_systemd || systemctl stop --quiet ferry 2>/dev/null || true
rm -rf /opt/ferry
mv /opt/ferry.new /opt/ferry
install -D -m 644 ferry.service /etc/systemd/system/ferry.service
install -d /usr/local/bin
cat >/usr/local/bin/ferry <<'END'
#!/bin/sh
# Run a command of Ferry as its service does: as the user ferry, with the settings in /etc/ferry.env.
[ "$(id -u)" = 0 ] || { echo "ferry: run this as root: sudo ferry $*" >&2; exit 1; }
export HOME=/var/lib/ferry ENV_FILE=/etc/ferry.env
grep -qs '^DATA_DIR=' /etc/ferry.env || export DATA_DIR=/var/lib/ferry
exec setpriv --reuid=ferry --regid=ferry --clear-groups /opt/ferry/bin/ferry "$@"
END
chmod 755 /usr/local/bin/ferry
if has_systemd; then
  systemctl daemon-reload
  systemctl enable --quiet --now ferry
  say "Ferry runs. The link that makes you its owner: journalctl --unit ferry"
else
  say "Without systemd, start Ferry with:"
  say "/usr/local/bin/ferry run"
fi
