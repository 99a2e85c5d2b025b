#!/usr/bin/env python3
"""Packs the development part of HeCBench, programs a to m, into an archive that bench/programs/run.py takes.

usage: bench/programs/pack.py GIT_DIRECTORY HeCBench.tar.xz [--commit COMMIT] [--most-bytes 8000000]

The archive has the CUDA programs a to m, the folders a to m that their makefiles name, src/include
and the data that git holds. Files that are larger than --most-bytes or missing from the repository
are omitted and named. Folders n to z are never read.
"""
import argparse
import io
import re
import subprocess
import tarfile

PROGRAM = re.compile(r"src/[a-m][^/]*-cuda/")
DATA = re.compile(r"src/data/[a-m]")


class Repository:
    def __init__(self, directory, commit):
        self.git = ["git", "-C", directory]
        self.commit = self.text("rev-parse", commit).strip()
        self.reader = subprocess.Popen([*self.git, "cat-file", "--batch"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def text(self, *arguments):
        return subprocess.run([*self.git, *arguments], check=True, capture_output=True, text=True).stdout

    def files(self):
        """@return {path: (mode, object, bytes or None where the object is missing)} of src/"""
        found = {}
        for line in self.text("ls-tree", "-r", "-l", "-z", self.commit, "src").split("\0"):
            if line:
                facts, path = line.split("\t", 1)
                mode, kind, name, size = facts.split()
                if kind == "blob":
                    found[path] = (int(mode, 8), name, int(size) if size.isdigit() else None)
        return found

    def content(self, name):
        self.reader.stdin.write(f"{name}\n".encode())
        self.reader.stdin.flush()
        size = int(self.reader.stdout.readline().split()[2])
        content = self.reader.stdout.read(size)
        self.reader.stdout.read(1)
        return content


def named_folders(repository, files):
    """Folders beside the programs that their makefiles and sources name, as "../bfs-sycl"."""
    folders = set()
    for path, (_, name, size) in files.items():
        if PROGRAM.match(path) and size and size < 1_000_000:
            text = repository.content(name).decode("utf-8", "replace")
            folders.update(re.findall(r"\.\./([a-m][A-Za-z0-9_+.-]*)/", text))
    return folders


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("repository")
    parser.add_argument("archive")
    parser.add_argument("--commit", default="HEAD")
    parser.add_argument("--most-bytes", type=int, default=8_000_000)
    options = parser.parse_args()
    repository = Repository(options.repository, options.commit)
    files = repository.files()
    beside = tuple("src/" + folder + "/" for folder in (named_folders(repository, files) | {"include"}) - {"data"})
    count = 0
    with tarfile.open(options.archive, "w:xz") as archive:
        def add(path, mode, content):
            entry = tarfile.TarInfo(path)
            entry.size, entry.mode = len(content), mode & 0o777
            archive.addfile(entry, io.BytesIO(content))

        add("COMMIT", 0o644, (repository.commit + "\n").encode())
        for path, (mode, name, size) in sorted(files.items()):
            if not PROGRAM.match(path) and not DATA.match(path) and not path.startswith(beside):
                continue
            if size is None or size > options.most_bytes:
                print(f"left out: {path} ({'missing' if size is None else f'{size} bytes'})")
                continue
            content = repository.content(name)
            if mode & 0o170000 == 0o120000:
                entry = tarfile.TarInfo(path)
                entry.type, entry.linkname = tarfile.SYMTYPE, content.decode()
                archive.addfile(entry)
            else:
                add(path, mode, content)
            count += 1
    print(f"{count} files of commit {repository.commit[:12]}: {options.archive}")


if __name__ == "__main__":
    main()
