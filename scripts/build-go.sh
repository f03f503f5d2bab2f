#!/usr/bin/env bash
# build-go.sh FOLDER: builds the Go program of a folder of this repository into the cache, unless it is there already.
# The last line printed is its path.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
. "$root/scripts/go-cache.sh"
cd "$root/$1"

name=$(awk '$1 == "module" { sub(".*/", "", $2); print $2; exit }' go.mod)
open_cache "$name" go.mod go.sum ./*.go
build "$name" .
echo "$dir/$name"
