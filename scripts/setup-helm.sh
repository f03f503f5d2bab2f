#!/usr/bin/env bash
# Builds helm from test/cluster/helm/go.mod into the cache, unless it is there already. The last line printed is its path.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
. "$root/scripts/go-cache.sh"
cd "$root/test/cluster/helm"
open_cache helm go.mod go.sum
# Without these helm takes the cluster for a very old one when it only renders.
stamp=helm.sh/helm/v3/pkg/chartutil
build helm helm.sh/helm/v3/cmd/helm -ldflags="-s -w -X $stamp.k8sVersionMajor=1 -X $stamp.k8sVersionMinor=35"
echo "$dir/helm"
