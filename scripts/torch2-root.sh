#!/usr/bin/env bash
# A folder with Debian 13's PyTorch 2.6 (Debian 12 has 1.13, which has no torch.compile), and a command run in it.
# usage: scripts/torch2-root.sh COMMAND...     in the root, with this checkout at /warpwright; WARPWRIGHT_TORCH2_ROOT names the folder,
#                                              default: build/torch2-root. Exit code 77: it cannot be made or entered here, and why.
# The root is made once, by debootstrap from Debian's own archive, which takes minutes and 1.6 GB; packages that are named here later are
# added to it. Needs root for chroot and mounts; the mounts are in a separate namespace and go with the command.
set -euo pipefail
cd "$(dirname "$0")/.."
root=${WARPWRIGHT_TORCH2_ROOT:-$PWD/build/torch2-root}
packages=python3-torch,libtorch-dev,pybind11-dev,g++,python3-setuptools,python3-dev,python3-pip,ca-certificates
skip() {
  echo "torch2-root: $1; skipped" >&2
  exit 77
}
[ "$(id -u)" -eq 0 ] || skip "only root may enter another root"
mkdir -p "$(dirname "$root")"
exec {lock}>"$root.lock"
flock "$lock" # tests that run at the same time make one root
if [ ! -e "$root/complete" ]; then
  command -v debootstrap >/dev/null || skip "debootstrap is not installed (apt-get install debootstrap)"
  mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 2>/dev/null | grep -m 1 -E '/debian/?$' || true)
  [ -n "$mirror" ] || skip "apt names no archive of Debian"
  echo "torch2-root: making $root" >&2
  rm -rf "$root"
  timeout 900 debootstrap --variant=minbase --include="$packages" trixie "$root" "$mirror" >"$root.log" 2>&1 ||
    skip "debootstrap failed: $(tail -n 1 "$root.log" | sed -E 's#https?://[^ ]*##g')"
  mkdir -p "$root/warpwright"
  echo "$packages" >"$root/complete"
elif [ "$(cat "$root/complete")" != "$packages" ]; then
  echo "torch2-root: adding packages to $root" >&2
  timeout 300 chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive sh -ec \
    'apt-get update -qq && apt-get install -y -qq --no-install-recommends "$@"' add ${packages//,/ } >"$root.log" 2>&1 ||
    skip "packages cannot be added to $root: $(tail -n 1 "$root.log" | sed -E 's#https?://[^ ]*##g')"
  echo "$packages" >"$root/complete"
fi
exec {lock}>&-
export WARPWRIGHT_ENTERED_ROOT=$root
exec unshare --mount bash -c '
  set -e
  mount --bind "$PWD" "$WARPWRIGHT_ENTERED_ROOT/warpwright"
  mount -t proc proc "$WARPWRIGHT_ENTERED_ROOT/proc" 2>/dev/null || mount --bind /proc "$WARPWRIGHT_ENTERED_ROOT/proc"
  mount --bind /dev "$WARPWRIGHT_ENTERED_ROOT/dev"
  exec chroot "$WARPWRIGHT_ENTERED_ROOT" env -i HOME=/tmp PATH=/usr/bin:/bin LANG=C.UTF-8 "$@"' enter "$@"
