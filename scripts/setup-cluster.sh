#!/usr/bin/env bash
# Builds etcd, kube-apiserver, kube-controller-manager and kube-scheduler (and kubectl when there is none on PATH) from
# test/cluster/go.mod into the cache, unless they are there already. The last line printed is the folder they are in.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
. "$root/scripts/go-cache.sh"
cd "$root/test/cluster"
open_cache cluster go.mod go.sum

# Kubernetes learns its own version from the linker.
version=$(awk '$1 == "k8s.io/kubernetes" { print $2; exit }' go.mod)
IFS=. read -r major minor _ <<<"${version#v}"
stamp=k8s.io/component-base/version
flags="-s -w -X $stamp.gitVersion=$version -X $stamp.gitMajor=$major -X $stamp.gitMinor=$minor"

build etcd go.etcd.io/etcd/server/v3 -ldflags="$flags"
build kube-apiserver k8s.io/kubernetes/cmd/kube-apiserver -ldflags="$flags"
build kube-controller-manager k8s.io/kubernetes/cmd/kube-controller-manager -ldflags="$flags"
build kube-scheduler k8s.io/kubernetes/cmd/kube-scheduler -ldflags="$flags"
command -v kubectl >/dev/null || build kubectl k8s.io/kubernetes/cmd/kubectl -ldflags="$flags"

echo "$dir"
