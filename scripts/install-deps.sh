#!/usr/bin/env bash
# Installs what the build, the demo and the tests need from Debian 12's own archives (bookworm and bookworm-security), and, as the one
# thing that Debian does not have, tree-sitter's grammar of Python: two C files of a fixed version, checked against checksums, put into
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
  doctest-dev neovim clangd-22 rabbitmq-server openssl python3-torch pybind11-dev
  # trainer (optional: without libtorch-dev warpwright-train is not built)
  libtorch-dev libgloo-dev libopenblas0-openmp
)

# The grammar's two files, from npm's registry (by npm, or without it) or its project's archive. Without them all is built but the reading of
# .py files, and the build says so.
install_grammar() {
  local version=0.23.6 folder work source
  folder="$(cd "$(dirname "$0")/.." && pwd)/build/dependencies/tree-sitter-python-$version"
  [ -e "$folder/parser.c" ] && return
  echo "install-deps: fetching tree-sitter-python $version"
  work=$(mktemp -d)
  (cd "$work" && timeout 60 npm pack --silent "tree-sitter-python@$version" >/dev/null 2>&1 && mv ./*.tgz grammar.tgz) ||
    python3 - "$work/grammar.tgz" "https://registry.npmjs.org/tree-sitter-python/-/tree-sitter-python-$version.tgz" \
      "https://github.com/tree-sitter/tree-sitter-python/archive/refs/tags/v$version.tar.gz" <<'FETCH' || true
import socket, sys, urllib.request
socket.setdefaulttimeout(30)
for address in sys.argv[2:]:
    try:
        urllib.request.urlretrieve(address, sys.argv[1])
        break
    except OSError:
        pass
FETCH
  tar -xzf "$work/grammar.tgz" -C "$work" --strip-components=1 2>/dev/null || true
  source=$work/src
  if ! sha512sum --check --status 2>/dev/null <<SUMS; then
ffb513b8d8b8eab87ec2ab530c3490a8896719847fdbe88fcd7cad3de102e13982d994df974b71bd540be6f30c39450626a43738c888874118424502cc1227db  $source/parser.c
931d9231fae845d991a3401a84e2c54c474061486f7c9baaebbae923836dc3f6f969039b7a03ffcc23ebcf68da34cae51313e405f8391ed5c02dc46403bfd34a  $source/scanner.c
SUMS
    rm -rf "$work"
    echo "install-deps: tree-sitter-python could not be fetched unchanged (npm, or python3 and a network): .py files will not be read" >&2
    return
  fi
  mkdir -p "$folder"
  cp -r "$source/scanner.c" "$source/tree_sitter" "$work/LICENSE" "$folder"
  cp "$source/parser.c" "$folder"
  rm -rf "$work"
}

if ! command -v dpkg-query >/dev/null; then
  echo "install-deps: this is no Debian system; install these or their equivalents by hand: ${packages[*]}" >&2
  exit 1
fi
missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q '^install ok installed' || missing+=("$package")
done
if [ ${#missing[@]} -eq 0 ]; then
  install_grammar
  exit 0
fi

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
install_grammar
