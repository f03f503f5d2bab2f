#!/usr/bin/env bash
# Builds etcd, kube-apiserver, kube-controller-manager and kube-scheduler (and kubectl when there is none on PATH) from
# test/cluster/go.mod into the cache, unless they are there already. The last line printed is the folder they are in.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
go=$("$root/scripts/setup-go.sh")
cd "$root/test/cluster"
unset GOROOT
export CGO_ENABLED=0 GOTOOLCHAIN=local GOWORK=off GOFLAGS=-buildvcs=false

hash=$(cat go.mod go.sum | sha256sum | cut -c1-12)
dir=${XDG_CACHE_HOME:-$HOME/.cache}/karpenter-ts/cluster/$hash-$("$go" env GOVERSION)-$("$go" env GOOS)-$("$go" env GOARCH)
mkdir -p "$dir"

work=$(mktemp -d "$dir/build.XXXXXX")
trap 'rm -rf "$work"' EXIT

# Kubernetes learns its own version from the linker.
version=$(awk '$1 == "k8s.io/kubernetes" { print $2; exit }' go.mod)
IFS=. read -r major minor _ <<<"${version#v}"
stamp=k8s.io/component-base/version
flags="-s -w -X $stamp.gitVersion=$version -X $stamp.gitMajor=$major -X $stamp.gitMinor=$minor"

# Each lands under its name by a rename, so that a build cut short leaves nothing half done.
build() {
  local name=$1 package=$2
  [ ! -x "$dir/$name" ] || return 0
  echo "setup-cluster: building $name (the first build takes minutes)" >&2
  "$go" build -trimpath -ldflags="$flags" -o "$work/$name" "$package" >&2
  mv "$work/$name" "$dir/$name"
}

build etcd go.etcd.io/etcd/server/v3
build kube-apiserver k8s.io/kubernetes/cmd/kube-apiserver
build kube-controller-manager k8s.io/kubernetes/cmd/kube-controller-manager
build kube-scheduler k8s.io/kubernetes/cmd/kube-scheduler
command -v kubectl >/dev/null || build kubectl k8s.io/kubernetes/cmd/kubectl

echo "$dir"
