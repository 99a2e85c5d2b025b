#!/usr/bin/env bash
# A folder with Debian 13's PyTorch 2.6 (Debian 12 has 1.13, which has no torch.compile), and a command run in it.
# usage: scripts/torch2-root.sh COMMAND...     in the root, with this checkout at /warpwright; WARPWRIGHT_TORCH2_ROOT names the folder,
#                                              default: build/torch2-root. Exit code 77: it cannot be made or entered here, and why.
# The root is made once, by debootstrap from Debian's own archive, which takes minutes and 1.6 GB. Needs root for chroot and mounts; the
# mounts are in a namespace of their own and go with the command.
set -euo pipefail
cd "$(dirname "$0")/.."
root=${WARPWRIGHT_TORCH2_ROOT:-$PWD/build/torch2-root}
skip() {
  echo "torch2-root: $1; skipped" >&2
  exit 77
}
[ "$(id -u)" -eq 0 ] || skip "only root may enter another root"
if [ ! -e "$root/complete" ]; then
  command -v debootstrap >/dev/null || skip "debootstrap is not installed (apt-get install debootstrap)"
  mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 2>/dev/null | grep -m 1 -E '/debian/?$' || true)
  [ -n "$mirror" ] || skip "apt names no archive of Debian"
  mkdir -p "$(dirname "$root")"
  echo "torch2-root: making $root" >&2
  rm -rf "$root"
  timeout 900 debootstrap --variant=minbase \
    --include=python3-torch,libtorch-dev,pybind11-dev,g++,python3-setuptools,python3-dev,ca-certificates \
    trixie "$root" "$mirror" >"$root.log" 2>&1 || skip "debootstrap failed: $(tail -n 1 "$root.log" | sed -E 's#https?://[^ ]*##g')"
  mkdir -p "$root/warpwright"
  touch "$root/complete"
fi
export WARPWRIGHT_ENTERED_ROOT=$root
exec unshare --mount bash -c '
  set -e
  mount --bind "$PWD" "$WARPWRIGHT_ENTERED_ROOT/warpwright"
  mount -t proc proc "$WARPWRIGHT_ENTERED_ROOT/proc" 2>/dev/null || mount --bind /proc "$WARPWRIGHT_ENTERED_ROOT/proc"
  mount --bind /dev "$WARPWRIGHT_ENTERED_ROOT/dev"
  exec chroot "$WARPWRIGHT_ENTERED_ROOT" env -i HOME=/tmp PATH=/usr/bin:/bin LANG=C.UTF-8 "$@"' enter "$@"
