"""Debian packages of another architecture or release, fetched by apt and unpacked into a folder.

apt gets separate lists and a separate state, so the machine's packages are untouched. For
sysroot.py and the tests of packages. Works without root.
"""
import os
import pathlib
import shutil
import subprocess

KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"


class Unavailable(Exception):
    """Why packages cannot be had on this machine."""


def sources():
    """(site, release) of each archive of Debian that this machine fetches packages from."""
    if not shutil.which("apt-get") or not os.path.exists(KEYRING):
        raise Unavailable("this machine fetches no packages from Debian")
    listed = subprocess.run(["apt-get", "indextargets", "--format", "$(SITE) $(RELEASE) $(COMPONENT) $(ORIGIN)"], capture_output=True,
                            text=True).stdout
    found = sorted({tuple(line.split()[:2]) for line in listed.splitlines() if line.split()[2:] == ["main", "Debian"]})
    if not found:
        raise Unavailable("this machine has no list of Debian's packages: apt-get update")
    return found


def of_release(release):
    """The main archive of another release, on the same site as this machine's."""
    return [(next(site for site, _ in sources() if "security" not in site), release)]


def apt_options(folder, architecture):
    names = {"APT::Architecture": architecture, "APT::Architectures::": architecture, "Dir::Etc::sourcelist": folder / "sources.list",
             "Dir::Etc::sourceparts": "/dev/null", "Dir::State::lists": folder / "lists", "Dir::State::status": "/dev/null",
             "Dir::Cache": folder / "cache", "Acquire::Languages": "none", "APT::Sandbox::User": ""}
    return [word for name, value in names.items() for word in ("-o", f"{name}={value}")]


def download(packages, architecture, archives, folder):
    """Fetches packages into folder/packages. `archives` are pairs as those of sources(). @return paths of the packages"""
    for part in ("lists/partial", "cache/archives/partial", "packages"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    (folder / "sources.list").write_text("".join(f"deb [arch={architecture} signed-by={KEYRING}] {site} {release} main\n"
                                                 for site, release in archives))
    for command in (["update"], ["download", *packages]):
        run = subprocess.run(["apt-get", "-qq", *apt_options(folder, architecture), *command], cwd=folder / "packages", capture_output=True,
                             text=True, timeout=1800)
        if run.returncode:
            raise Unavailable(f"{', '.join(packages)} for {architecture} cannot be fetched: {run.stderr.strip()}")
    return sorted((folder / "packages").glob("*.deb"))


def unpack(packages, root):
    """Unpacks files of packages into a folder, with dpkg's lists of them: `dpkg-query --admindir=root/var/lib/dpkg` answers."""
    database = root / "var/lib/dpkg"
    (database / "info").mkdir(parents=True, exist_ok=True)
    stanzas = []
    for package in packages:
        control = subprocess.run(["dpkg-deb", "-f", package], capture_output=True, text=True, check=True).stdout
        name = next(line.split()[1] for line in control.splitlines() if line.startswith("Package:"))
        paths = subprocess.run(["dpkg-deb", "--vextract", package, root], capture_output=True, text=True, check=True).stdout.splitlines()
        (database / "info" / f"{name}.list").write_text("".join(path.removeprefix(".").rstrip("/") + "\n" for path in paths))
        stanzas.append(control.replace("\n", "\nStatus: install ok installed\n", 1))
    (database / "status").write_text("\n".join(stanzas))


def fetch_root(packages, architecture, folder, archives=sources):
    """A folder with the unpacked packages, made once: folder/root. `archives` gives pairs as those of sources()."""
    folder = pathlib.Path(folder).resolve()
    root, wanted = folder / "root", "\n".join(sorted(packages)) + "\n"
    record = root / "var/lib/dpkg/wanted"
    if record.exists() and record.read_text() == wanted:
        return root
    shutil.rmtree(folder, ignore_errors=True)
    unpack(download(packages, architecture, archives(), folder), root)
    for part in ("packages", "lists", "cache"):
        shutil.rmtree(folder / part)
    record.write_text(wanted)
    return root
