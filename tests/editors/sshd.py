"""A real OpenSSH server on a loopback port with keys of its own, for the user who runs the test, and an `ssh` on the PATH that is
the real one with the test's configuration. tests/runner/sshd_fixture.h does the same in C++."""
import os
import pathlib
import pwd
import shutil
import signal
import socket
import subprocess
import time

SSHD = os.environ.get("SSHD", "/usr/sbin/sshd")


def is_installed():
    return os.access(SSHD, os.X_OK) and shutil.which("ssh") is not None


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Sshd:
    """Host gpu-box of the configuration. `environment` has the PATH and the cache folder for the client; `there` is set on the host."""

    def __init__(self, folder, there=None):
        self.folder = folder = pathlib.Path(folder)
        for key in ("host_key", "user_key"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / key], check=True)
        shutil.copy(folder / "user_key.pub", folder / "authorized_keys")
        (folder / "known_hosts").write_text("gpu-box " + (folder / "host_key.pub").read_text())
        self.port = free_port()
        (folder / "tmp").mkdir()
        self.temporary = folder / "tmp"
        variables = {"XDG_CACHE_HOME": folder / "cache", "TMPDIR": self.temporary} | (there or {})
        (folder / "sshd_config").write_text(
            f"Port {self.port}\nListenAddress 127.0.0.1\nHostKey {folder}/host_key\nAuthorizedKeysFile {folder}/authorized_keys\n"
            "PidFile none\nUsePAM no\nStrictModes no\nPasswordAuthentication no\nKbdInteractiveAuthentication no\n"
            f"PermitRootLogin prohibit-password\nSetEnv {' '.join(f'{name}={value}' for name, value in variables.items())}\n")
        user = pwd.getpwuid(os.geteuid()).pw_name
        (folder / "ssh_config").write_text(
            f"Host gpu-box\n  HostName 127.0.0.1\n  Port {self.port}\n  User {user}\n  HostKeyAlias gpu-box\n"
            f"  IdentityFile {folder}/user_key\n  IdentitiesOnly yes\n  IdentityAgent none\n"
            f"  UserKnownHostsFile {folder}/known_hosts\n  GlobalKnownHostsFile /dev/null\n  StrictHostKeyChecking yes\n")
        programs = folder / "programs"
        programs.mkdir()
        (programs / "ssh").write_text(f'#!/bin/sh\nexec {shutil.which("ssh")} -F {folder}/ssh_config "$@"\n')
        (programs / "ssh").chmod(0o755)
        self.environment = {"PATH": f"{programs}:{os.environ['PATH']}"}
        if os.geteuid() == 0:
            os.makedirs("/run/sshd", exist_ok=True)
        self.process = subprocess.Popen([SSHD, "-D", "-f", folder / "sshd_config", "-E", folder / "sshd.log"])
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.02)
        raise RuntimeError("sshd does not listen: " + (folder / "sshd.log").read_text())

    def stop(self):
        self.process.terminate()
        self.process.wait()
        for path in self.temporary.glob("warpwright-*/*.sock"):  # the services that were left
            with socket.socket(socket.AF_UNIX) as service:
                try:
                    service.connect(str(path))
                    peer = service.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
                    os.kill(int.from_bytes(peer[:4], "little"), signal.SIGTERM)
                except OSError:
                    pass
