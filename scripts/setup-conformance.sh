#!/usr/bin/env bash
# Builds what the conformance tier needs beside the control plane into the cache, unless it is there already: upstream's two
# suites and its own KWOK controller (test/conformance/go.mod), and kwok, the fake kubelet (test/conformance/kwok/go.mod).
# Besides the programs the folder gets kwok's stages and upstream's CRDs. The last line printed is the folder.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
. "$root/scripts/go-cache.sh"
cd "$root/test/conformance"
open_cache conformance go.mod go.sum kwok/go.mod kwok/go.sum "$root/scripts/setup-conformance.sh"

flags="-s -w"
upstream=sigs.k8s.io/karpenter
build karpenter-kwok "$upstream/kwok" -ldflags="$flags"
build_tests regression.test "$upstream/test/suites/regression" -ldflags="$flags"
build_tests performance.test "$upstream/test/suites/performance" -ldflags="$flags"
source=$("$go" list -m -f '{{.Dir}}' "$upstream")

cd kwok
build kwok sigs.k8s.io/kwok/cmd/kwok -ldflags="$flags"
stages=$("$go" list -m -f '{{.Dir}}' sigs.k8s.io/kwok)/kustomize/stage

# Upstream's own stages come last: a pod that is deleted goes after a delay that its specs set.
if [ ! -d "$dir/data" ]; then
  mkdir "$work/data" "$work/data/stages" "$work/data/crds"
  cp --no-preserve=mode "$stages"/node/fast/node-initialize.yaml "$stages"/node/heartbeat-with-lease/node-heartbeat-with-lease.yaml \
    "$stages"/pod/fast/pod-{ready,complete,delete}.yaml "$work/data/stages/"
  cp --no-preserve=mode "$source"/hack/kwok/stages/*.yaml "$work/data/stages/"
  cp --no-preserve=mode "$source"/kwok/charts/crds/*.yaml "$source"/kwok/apis/crds/karpenter.kwok.sh_*.yaml "$work/data/crds/"
  mv -T "$work/data" "$dir/data" 2>/dev/null || [ -d "$dir/data" ] # someone else may have been quicker
fi
echo "$dir"
