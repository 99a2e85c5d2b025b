#!/usr/bin/env bash
# Installs what the build, the demo and the tests need from Debian 12's own archives (bookworm and bookworm-security), and, as the one
# thing that Debian does not have, tree-sitter's grammar of Python: two C files of a fixed version, checked against a checksum, put into
# build/dependencies. Does nothing when all of it is there. Needs root or sudo to install.
# Left out: the CUDA toolkit and the GPU driver. Both are optional: found when present, said when not
# (`warpwright doctor`).
set -euo pipefail

packages=(
  # build
  cmake ninja-build ccache pkg-config xz-utils python3 git ca-certificates
  clang-22 libclang-rt-22-dev lld-22 libclang-22-dev llvm-22-dev libpolly-22-dev libzstd-dev zlib1g-dev
  # libraries
  nlohmann-json3-dev libboost1.81-dev libboost-context1.81-dev libsqlite3-dev libsqlitecpp-dev libssl-dev
  libcli11-dev libtomlplusplus-dev libvalijson-dev libseccomp-dev librabbitmq-dev libtree-sitter-dev
  # tests and benchmarks
  doctest-dev neovim clangd-22 rabbitmq-server openssl python3-torch libtorch-dev pybind11-dev
)

# The grammar, from the package registry of npm by its client, or where there is none by its address. Without it all is built but the
# reading of .py files, and the build says so.
install_grammar() {
  local name=tree-sitter-python-0.23.6 sum folder
  sum=c8833dcf4a31288c53edb02d3ce860a1597a8135e59a5221b9eee58854f8a013c5fe585aec76b8750052f3602fea130c459a159c5248f0cea62fe4b05a82c3dc
  folder="$(cd "$(dirname "$0")/.." && pwd)/build/dependencies/$name"
  [ -e "$folder/parser.c" ] && return
  echo "install-deps: fetching $name"
  local work
  work=$(mktemp -d)
  (cd "$work" && npm pack --silent "${name%-*}@${name##*-}" >/dev/null 2>&1) ||
    curl -fsSL -o "$work/$name.tgz" "https://registry.npmjs.org/${name%-*}/-/$name.tgz" || true
  if ! echo "$sum  $work/$name.tgz" | sha512sum --check --status 2>/dev/null; then
    rm -rf "$work"
    echo "install-deps: $name could not be fetched unchanged (npm or curl, and a network): .py files will not be read" >&2
    return
  fi
  mkdir -p "$folder"
  tar -xzf "$work/$name.tgz" -C "$folder" --strip-components=2 package/src/parser.c package/src/scanner.c package/src/tree_sitter
  tar -xzf "$work/$name.tgz" -C "$folder" --strip-components=1 package/LICENSE
  rm -rf "$work"
}
install_grammar

if ! command -v dpkg-query >/dev/null; then
  echo "install-deps: this is no Debian system; install these or their equivalents by hand: ${packages[*]}" >&2
  exit 1
fi
missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q '^install ok installed' || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || { echo "install-deps: run as root, or install: ${missing[*]}" >&2; exit 1; }
  as_root=(sudo)
fi
echo "install-deps: installing ${missing[*]}"
# rabbitmq-server would start a broker for the whole machine; the tests start private ones (scripts/broker.sh).
# Debian asks this program whether a package may start its service: no.
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
  printf '#!/bin/sh\nexit 101\n' | "${as_root[@]}" tee "$policy" >/dev/null
  "${as_root[@]}" chmod 755 "$policy"
  trap '"${as_root[@]}" rm -f "$policy"' EXIT
fi
export DEBIAN_FRONTEND=noninteractive
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null || {
  echo "install-deps: apt could not install ${missing[*]}. clang-22 comes from bookworm-security: is that in /etc/apt/sources.list?" >&2
  exit 1
}
