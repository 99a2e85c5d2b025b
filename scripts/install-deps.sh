#!/usr/bin/env bash
# Installs what the build, the demo and the tests need from Debian 12's own archives (bookworm and
# bookworm-security), and nothing else. Does nothing when all of it is there. Needs root or sudo to install.
# Left out: the CUDA toolkit and the GPU driver. Both are optional: found when present, said when not
# (`warpwright doctor`).
set -euo pipefail

packages=(
  # build
  cmake ninja-build ccache pkg-config xz-utils python3 git ca-certificates
  clang-22 libclang-rt-22-dev lld-22 libclang-22-dev llvm-22-dev libpolly-22-dev libzstd-dev zlib1g-dev
  # libraries
  nlohmann-json3-dev libboost1.81-dev libboost-context1.81-dev libsqlite3-dev libsqlitecpp-dev libssl-dev
  libcli11-dev libtomlplusplus-dev libvalijson-dev libseccomp-dev librabbitmq-dev
  # tests and benchmarks
  doctest-dev neovim clangd-22 rabbitmq-server openssl python3-torch
)

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
