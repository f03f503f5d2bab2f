#!/usr/bin/env bash
# Builds the oracle (test/oracle) into the cache, unless it is there already. The last line printed is its path.
set -euo pipefail
exec "$(dirname "$0")/build-go.sh" test/oracle
