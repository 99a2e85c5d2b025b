#!/usr/bin/env bash
# Installs what the tests of the VS Code extension run in: code-server (VS Code's own workbench and
# extension host, served to a browser) and playwright-core below build/editors, Chromium from
# Debian, and, where the system's Node is not of version 20 or has no headers, Node 20 as an npm
# package. Needs Debian's packages and the npm registry, nothing else; does nothing when all is
# there. Each npm package is of the version and the checksum that a lockfile names
# (tests/editors/*/package-lock.json), and no script of it is run. Also Emacs with Eglot, and Helix
# where Debian has it. Not included: Neovim, which install-deps.sh brings.
#
# Usage: scripts/install-editors.sh [--check]    --check installs nothing: exit 0 when all is there,
# 77 (skipped) when not Prints one line on what is missing, and ends with 77 when something cannot
# be had here.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
locked=$root/tests/editors # code-server is of VS Code 1.100: later ones need Node 22 or 24
folder=$root/build/editors
server=$folder/code-server/node_modules/code-server
stamp=$folder/installed-$(cat "$locked"/{code-server,code-server/vscode,vscode}/package-lock.json | sha256sum | cut -c1-12)
packages=(chromium fonts-dejavu-core ripgrep g++ make python3 pkg-config)
command -v npm >/dev/null || packages+=(nodejs npm)

skip() {
  echo "install-editors: $1" >&2
  exit 77
}

if [ -e "$stamp" ] && command -v chromium >/dev/null; then
  exit 0
fi
[ "${1:-}" != --check ] || skip "the editors for tests are not installed; scripts/install-editors.sh does it"

missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q '^install ok installed' || missing+=("$package")
done
if [ ${#missing[@]} -gt 0 ]; then
  as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || skip "run as root, or install: ${missing[*]}"
    as_root=(sudo)
  fi
  echo "install-editors: installing ${missing[*]}"
  export DEBIAN_FRONTEND=noninteractive
  "${as_root[@]}" apt-get update -qq
  "${as_root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null ||
    skip "apt could not install ${missing[*]}"
fi

# Editors whose tests are skipped without them. Debian 12 has no package of Helix.
for package in emacs-nox elpa-eglot tmux hx; do
  [ -n "$(apt-cache policy "$package" 2>/dev/null | grep -v '(none)' | grep Candidate)" ] || continue
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q '^install ok installed' ||
    apt-get install -y -qq --no-install-recommends "$package" >/dev/null || echo "install-editors: apt could not install $package"
done

# Node of the version that this VS Code was made for, with the headers that its native modules are compiled against.
mkdir -p "$folder"
log=$folder/install.log
: >"$log"
node=$("$root/scripts/node-path.sh" exact) || skip "Node 20 cannot be had"
export PATH=$node:$PATH
prefix=$(dirname "$(dirname "$(realpath "$node/node")")")
export npm_config_nodedir=$prefix npm_config_audit=false npm_config_fund=false npm_config_update_notifier=false npm_config_yes=true

if [ ! -e "$server/lib/vscode/node_modules.asar" ]; then
  echo "install-editors: installing code-server (a few minutes)"
  rm -rf "$folder/code-server"
  mkdir -p "$folder/code-server"
  cp "$locked"/code-server/{package.json,package-lock.json,.npmrc} "$folder/code-server/"
  # The lockfile that code-server's archive brings for VS Code's own packages lacks one of them. Native modules are compiled.
  {
    cd "$folder/code-server" &&
      npm ci --ignore-scripts && npm rebuild argon2 &&
      cd "$server/lib/vscode" &&
      cp "$locked/code-server/vscode/package-lock.json" npm-shrinkwrap.json &&
      npm ci --ignore-scripts --omit=dev &&
      npm rebuild @vscode/spdlog native-watchdog node-pty @vscode/deviceid &&
      ln -sfn node_modules node_modules.asar
  } >>"$log" 2>&1 || skip "code-server could not be installed; see $log"
fi

# VS Code searches files with ripgrep, which its npm package would download from elsewhere.
mkdir -p "$server/lib/vscode/node_modules/@vscode/ripgrep/bin"
ln -sfn /usr/bin/rg "$server/lib/vscode/node_modules/@vscode/ripgrep/bin/rg"

echo "install-editors: installing the driver of the tests"
npm ci --prefix "$root/tests/editors/vscode" --ignore-scripts >>"$log" 2>&1 ||
  skip "playwright-core could not be installed; see $log"
(cd "$folder" && node "$server/out/node/entry.js" --version >>"$log" 2>&1) ||
  skip "code-server does not start; see $log"
chromium --version >>"$log" 2>&1 || skip "chromium does not start"
echo "$prefix" >"$stamp"
