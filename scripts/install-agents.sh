#!/usr/bin/env bash
# Installs what the tests of `warpwright mcp` run: the clients of the Model Context Protocol's
# TypeScript SDK, of both its lines, and the protocol's inspector with the Node that it needs. All
# are npm packages of the versions and checksums that the lockfiles in tests/agents name, and no
# script of them is run. Does nothing when all is there.
#
# Usage: scripts/install-agents.sh [--check]    --check installs nothing: exit 0 when all is there, 77 (skipped) when not
# Prints one line on what is missing, and ends with 77 when something is not available here.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
locked=$root/tests/agents
folder=$root/build/agents
stamp=$folder/installed-$(cat "$locked"/{,inspector/}package-lock.json | sha256sum | cut -c1-12)

skip() {
  echo "install-agents: $1" >&2
  exit 77
}

if [ -e "$stamp" ] && [ -d "$locked/node_modules" ]; then
  exit 0
fi
[ "${1:-}" != --check ] || skip "the clients for agents are not installed; scripts/install-agents.sh does it"

mkdir -p "$folder/inspector"
log=$folder/install.log
: >"$log"
node=$("$root/scripts/node-path.sh") || skip "Node 20 cannot be had"
export PATH=$node:$PATH
export npm_config_audit=false npm_config_fund=false npm_config_update_notifier=false npm_config_yes=true

echo "install-agents: installing the clients of the SDK"
npm ci --prefix "$locked" --ignore-scripts >>"$log" 2>&1 || skip "the SDK could not be installed; see $log"
echo "install-agents: installing the inspector"
cp "$locked"/inspector/{package.json,package-lock.json,.npmrc} "$folder/inspector/"
npm ci --prefix "$folder/inspector" --ignore-scripts >>"$log" 2>&1 ||
  skip "the inspector could not be installed; see $log"
touch "$stamp"
