#!/usr/bin/env bash
# Prints the path of a Go command new enough for every go.mod below test: the one on PATH, or else a newer one that the
# one on PATH fetches as a module (golang.org/toolchain, checked against Go's checksum database) and that is kept in the cache.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
fetched=1.26.8 # the release to fetch when the one on PATH is too old
needed=$(cat "$root"/test/{cluster,cluster/clients/go,oracle,conformance,conformance/kwok}/go.mod | awk '$1 == "go" { print $2 }' | sort -V | tail -n 1)

if ! command -v go >/dev/null; then
  echo "setup-go: no Go on PATH (any release from 1.19 on will do); on Debian: scripts/setup-debian.sh" >&2
  exit 1
fi
found=$(GOTOOLCHAIN=local go env GOVERSION)
found=${found#go}
if printf '%s\n' "$needed" "$found" | sort -C -V; then
  command -v go
  exit 0
fi

platform=$(go env GOOS)-$(go env GOARCH)
home=${XDG_CACHE_HOME:-$HOME/.cache}/karpenter-ts/go/$fetched-$platform
if [ ! -x "$home/bin/go" ]; then
  echo "setup-go: Go $found is older than $needed; fetching $fetched" >&2
  mkdir -p "$(dirname "$home")"
  work=$(mktemp -d "$home.XXXXXX")
  trap 'rm -rf "$work"' EXIT
  module=golang.org/toolchain@v0.0.1-go$fetched.$platform
  (cd "$work" && GOMODCACHE=$work GOFLAGS=-modcacherw GOTOOLCHAIN=local go mod download "$module" >&2)
  tree=$work/$module
  # A module cannot carry executable bits or other modules' go.mod files: put both back.
  chmod -R +x "$tree/bin" "$tree/pkg/tool"
  find "$tree" -name _go.mod -execdir mv {} go.mod \;
  mv -T "$tree" "$home" 2>/dev/null || [ -x "$home/bin/go" ] # someone else may have been quicker
fi
echo "$home/bin/go"
