# shellcheck shell=bash
# Sourced by the scripts that build Go programs. What they build goes to a cache outside the tree, into a folder named
# after the content it is built from, so that nothing is built twice and a change builds into a new folder.

# open_cache NAME FILE...: sets $go, the Go command, and $dir, the cache folder for programs built from these files.
open_cache() {
  local name=$1 hash
  shift
  go=$("$root/scripts/setup-go.sh")
  unset GOROOT
  export CGO_ENABLED=0 GOTOOLCHAIN=local GOWORK=off GOFLAGS=-buildvcs=false
  hash=$(cat "$@" | sha256sum | cut -c1-12)
  dir=${XDG_CACHE_HOME:-$HOME/.cache}/karpenter-ts/$name/$hash-$("$go" env GOVERSION)-$("$go" env GOOS)-$("$go" env GOARCH)
  mkdir -p "$dir"
  work=$(mktemp -d "$dir/build.XXXXXX")
  trap 'rm -rf "$work"' EXIT
}

# build NAME PACKAGE [FLAG...]: builds $dir/NAME unless it is there.
build() { compile build "$@"; }

# build_tests NAME PACKAGE [FLAG...]: the same for the tests of a package.
build_tests() { compile "test -c" "$@"; }

# It lands under its name by a rename, so that a build cut short leaves nothing half done.
compile() {
  local command=$1 name=$2 package=$3
  shift 3
  [ ! -x "$dir/$name" ] || return 0
  echo "$(basename "$0" .sh): building $name (the first build takes minutes)" >&2
  # shellcheck disable=SC2086
  "$go" $command -trimpath "$@" -o "$work/$name" "$package" >&2
  mv "$work/$name" "$dir/$name"
}
