#!/usr/bin/env bash
# Runs tests of isolation in a virtual machine whose cgroup v2 has the controllers of memory and processes, which a container or an older
# host may lack. Debian's kernel and qemu come from its packages; emulated it takes minutes; KVM=1 uses /dev/kvm.
# usage: scripts/isolation-in-vm.sh BUILD_FOLDER [doctest's options]   (default: the cases of control groups, daemons and memory)
set -euo pipefail
build=$(realpath "$1")
shift
[ $# -gt 0 ] || set -- "-tc=*memory*,daemons*,*ended takes all*"
work=$(mktemp -d)
chmod 755 "$work"
trap 'rm -rf "$work"' EXIT
for program in qemu-system-x86_64 busybox cpio; do
  command -v "$program" >/dev/null || { echo "$program is missing: apt-get install qemu-system-x86 busybox-static cpio" >&2; exit 77; }
done
(cd "$work" && package=$(apt-cache depends linux-image-cloud-amd64 | sed -n 's/.*Depends: //p' | head -n 1) &&
  apt-get download -qq "$package" && dpkg -x "$package"*.deb kernel)

root=$work/root
mkdir -p "$root"/{bin,dev,proc,sys,tmp,etc,usr/bin,new} "$root$build/tests"
cp "$(command -v busybox)" "$root/bin/busybox"
cp "$build"/tests/runner_isolation_{tests,probe} "$root$build/tests/"
cp /usr/bin/env "$root/usr/bin/"
cp /etc/passwd /etc/group "$root/etc/"
for file in "$build/tests/runner_isolation_tests" /usr/bin/env; do
  ldd "$file" | grep -o '/[^ ]*' | while read -r library; do
    mkdir -p "$root$(dirname "$library")" && cp -nL "$library" "$root$library"
  done
done
printf '%q ' "$build/tests/runner_isolation_tests" "$@" >"$root/command"
cat >"$root/init" <<'INIT'
#!/bin/busybox sh
export PATH=/bin
if [ ! -e /moved ]; then # from the initial file system, whose root cannot be exchanged, into one whose root can
  /bin/busybox --install -s /bin
  mount -t tmpfs -o size=80% none /new
  for entry in bin dev proc sys tmp etc usr lib lib64 command init work home root; do [ ! -e /$entry ] || cp -a /$entry /new/; done
  mkdir -p /new/tmp; touch /new/moved
  exec switch_root /new /init
fi
mount -t proc none /proc
mount -t sysfs none /sys
mount -t devtmpfs none /dev
mkdir -p /dev/shm && mount -t tmpfs none /dev/shm
mount -t cgroup2 none /sys/fs/cgroup
echo "+memory +pids" >/sys/fs/cgroup/cgroup.subtree_control
chmod 1777 /tmp
ip link set lo up 2>/dev/null
sh /command
echo "exit code $?"
poweroff -f
INIT
chmod 755 "$root/init"
(cd "$root" && find . | cpio -o -H newc --quiet | gzip -1 >"$work/initramfs.gz")
accelerator=(-cpu max)
[ -z "${KVM:-}" ] || accelerator=(-enable-kvm -cpu max,arch-capabilities=off)
timeout 900 qemu-system-x86_64 "${accelerator[@]}" -m 3072 -smp 2 -nographic -no-reboot -kernel "$work"/kernel/boot/vmlinuz-* \
  -initrd "$work/initramfs.gz" -append "console=ttyS0 loglevel=3 panic=-1" | tee "$work/out.txt"
grep -q "^exit code 0" "$work/out.txt"
