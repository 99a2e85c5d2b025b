#!/usr/bin/env bash
# Installs the packages that the build, the demo and the tests need from Debian 12's own archives
# (bookworm and bookworm-security). Debian does not have tree-sitter's grammar of Python: it is an
# npm package of a fixed version and checksum, put into build/dependencies. If npm is missing,
# Debian's npm is installed for it. Does nothing if all of it is there. Needs root or sudo to
# install.
#
# Usage: scripts/install-deps.sh [demo|test|arm64]
#   demo   only the packages that build the demo's programs
#   test   all; the default
#   arm64  all, qemu-user, and in build/sysroot-arm64 the arm64 packages that a cross build uses
#
# It does not install the CUDA toolkit and the GPU driver. Both are optional (`warpwright doctor`).
set -euo pipefail

purpose=${1:-test}
packages=(
  # build
  cmake ninja-build ccache pkg-config xz-utils python3 git ca-certificates
  clang-22 lld-22 libclang-22-dev llvm-22-dev libpolly-22-dev libzstd-dev zlib1g-dev
  # libraries
  nlohmann-json3-dev libboost1.81-dev libboost-context1.81-dev libsqlite3-dev libsqlitecpp-dev libssl-dev
  libcli11-dev libtomlplusplus-dev libvalijson-dev libseccomp-dev librabbitmq-dev libtree-sitter-dev
)
[ "$purpose" = demo ] || packages+=(
  # packages: the wheels, and copyright files of the isl inside Polly and the xxHash inside LLVM (packaging/components.toml)
  python3-pip python3-setuptools python3-wheel libisl23 libxxhash0
  # tests and benchmarks
  doctest-dev libclang-rt-22-dev neovim clangd-22 rabbitmq-server openssl openssh-client openssh-server
  munge slurmctld slurmd slurm-client podman runc make g++ patch python3-yaml python3-torch pybind11-dev debootstrap
  # trainer (optional: without libtorch-dev warpwright-train is not built)
  libtorch-dev libgloo-dev libopenblas0-openmp
)

# The grammar, from npm's registry by npm itself, which knows the registry to ask. The archive as a whole is what is checked, before
# anything of it is unpacked. Without it all is built but the reading of .py files, and the build says so.
install_grammar() {
  local version=0.23.6 folder work
  local sha512=c8833dcf4a31288c53edb02d3ce860a1597a8135e59a5221b9eee58854f8a013c5fe585aec76b8750052f3602fea130c459a159c5248f0cea62fe4b05a82c3dc
  folder="$(cd "$(dirname "$0")/.." && pwd)/build/dependencies/tree-sitter-python-$version"
  [ -e "$folder/parser.c" ] && return
  echo "install-deps: fetching tree-sitter-python $version"
  work=$(mktemp -d)
  if ! (cd "$work" && timeout 120 npm pack --silent "tree-sitter-python@$version" >/dev/null 2>npm.log && mv ./*.tgz grammar.tgz); then
    echo "install-deps: npm could not fetch tree-sitter-python: $(tail -n 1 "$work/npm.log"); .py files will not be read" >&2
  elif ! echo "$sha512  $work/grammar.tgz" | sha512sum --check --status; then
    echo "install-deps: tree-sitter-python $version is not the archive that was reviewed (its SHA-512 differs); it is not used, and .py files will not be read" >&2
  else
    tar -xzf "$work/grammar.tgz" -C "$work" --strip-components=1
    mkdir -p "$folder"
    cp -r "$work/LICENSE" "$work/src/scanner.c" "$work/src/tree_sitter" "$folder"
    cp "$work/src/parser.c" "$folder" # last: it says that all is there
  fi
  rm -rf "$work"
}

fetch_the_rest() {
  install_grammar
  [ "$purpose" != arm64 ] || "$(dirname "$0")/sysroot.py" arm64 "$(dirname "$0")/../build/sysroot-arm64" >/dev/null
}

if ! command -v dpkg-query >/dev/null; then
  echo "install-deps: this is no Debian system; install these or their equivalents by hand: ${packages[*]}" >&2
  exit 1
fi
[ "$purpose" != arm64 ] || packages+=(qemu-user)
command -v npm >/dev/null || packages+=(npm) # fetches the grammar, and packs and tests the extension for VS Code
missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q '^install ok installed' || missing+=("$package")
done
if [ ${#missing[@]} -eq 0 ]; then
  [ "$purpose" != demo ] || echo "packages: all are installed"
  fetch_the_rest
  exit 0
fi

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || { echo "install-deps: run as root, or install: ${missing[*]}" >&2; exit 1; }
  as_root=(sudo)
fi
# rabbitmq-server, slurmctld and others would start a service for the whole machine; the tests start private ones (scripts/broker.sh,
# scripts/slurm.sh).
# Debian asks this program whether a package may start its service: no.
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
  printf '#!/bin/sh\nexit 101\n' | "${as_root[@]}" tee "$policy" >/dev/null
  "${as_root[@]}" chmod 755 "$policy"
  trap '"${as_root[@]}" rm -f "$policy"' EXIT
fi
export DEBIAN_FRONTEND=noninteractive
"${as_root[@]}" apt-get update -qq
# One line for each package to fetch, with its size in bytes as the third word.
apt-get install --print-uris -qq -y --no-install-recommends "${missing[@]}" 2>/dev/null |
  awk '{ size += $3 } END { printf "packages: %d to install, %d MB\n", NR, size / 1e6 }'
"${as_root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null || {
  echo "install-deps: apt could not install ${missing[*]}. clang-22 comes from bookworm-security: is that in /etc/apt/sources.list?" >&2
  exit 1
}
fetch_the_rest
