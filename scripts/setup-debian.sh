#!/usr/bin/env bash
# Installs the Debian packages that this machine lacks and the test tiers need. Does nothing when all are there.
set -euo pipefail

# command:package; the command tells whether the package is needed. An old Go will do: setup-go.sh starts from it.
needs=(git:git openssl:openssl go:golang-go ip:iproute2 unshare:util-linux python3:python3)

missing=()
for need in "${needs[@]}"; do
  command -v "${need%%:*}" >/dev/null || missing+=("${need##*:}")
done
# Debian keeps what makes virtual environments in a package of its own.
python3 -c 'import ensurepip' 2>/dev/null || missing+=(python3-venv)
# Without root certificates neither git nor Go can reach anything.
[ -d /etc/ssl/certs ] && [ -n "$(ls -A /etc/ssl/certs)" ] || missing+=(ca-certificates)

if [ ${#missing[@]} -eq 0 ]; then
  echo "setup-debian: nothing to install"
  exit 0
fi
if ! command -v apt-get >/dev/null; then
  echo "setup-debian: no apt-get here; install these another way: ${missing[*]}" >&2
  exit 1
fi

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "setup-debian: neither root nor sudo; ask someone to install: ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
fi

echo "setup-debian: installing ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
"${as_root[@]}" apt-get update -qq </dev/null
"${as_root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" </dev/null >/dev/null
