#!/usr/bin/env bash
# Installs moto, a mock of AWS (test/aws/requirements.txt), into a Python environment in the cache, unless it is there
# already. The last line printed is the Python command that has it.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
requirements=$root/test/aws/requirements.txt

if ! python3 -c 'import ensurepip, sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null; then
  echo "setup-aws: no Python 3.10 or newer with venv on PATH; on Debian: scripts/setup-debian.sh" >&2
  exit 1
fi

hash=$(sha256sum <"$requirements" | cut -c1-12)
release=$(python3 -c 'import platform; print(f"{platform.python_version()}-{platform.system()}-{platform.machine()}".lower())')
dir=${XDG_CACHE_HOME:-$HOME/.cache}/karpenter-ts/moto/$hash-$release
if [ ! -x "$dir/bin/python" ] || ! "$dir/bin/python" -c '' 2>/dev/null; then
  echo "setup-aws: installing moto (about a minute)" >&2
  mkdir -p "$(dirname "$dir")"
  work=$(mktemp -d "$dir.XXXXXX")
  trap 'rm -rf "$work"' EXIT
  python3 -m venv "$work/venv"
  "$work/venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-input -r "$requirements" >&2
  "$work/venv/bin/python" -c 'import moto.server'
  rm -rf "$dir" # of a Python that is gone
  # It may move: Python finds its packages beside itself. Someone else may have been quicker.
  mv -T "$work/venv" "$dir" 2>/dev/null || [ -x "$dir/bin/python" ]
fi
echo "$dir/bin/python"
