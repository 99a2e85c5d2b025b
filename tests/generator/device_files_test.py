"""Each file of generator/device compiles by itself: generator/device/alone/NAME.cu uses NAME.cuh, for the GPUs that its first line names.

Files mma_NAME.cuh have one interface, which alone/mma.cu uses: for the GPUs that it names, or that
the file's own first line does.

usage: device_files_test.py NVCC. Exit code 77 without nvcc. Standard library only.
"""
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
import tempfile

DEVICE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "generator", "device")


def user_of(name):
    return "mma" if name.startswith("mma_") else name


def targets_of(name):
    """The compute targets in the first line of the file, or else of the file that uses it."""
    for path in (name + ".cuh", os.path.join("alone", user_of(name) + ".cu")):
        with open(os.path.join(DEVICE, path), encoding="utf-8") as file:
            words = [word for word in file.readline().lstrip("/ ").split() if re.fullmatch(r"sm_\d+[af]?", word)]
        if words:
            return words
    return []


def compiled(nvcc, name, target, folder):
    """What nvcc said; empty: it compiled."""
    header = []
    if user_of(name) == "mma":
        path = os.path.join(DEVICE, name + ".cuh")
        with open(path, encoding="utf-8") as file:
            space = re.search(r"^namespace (\w+)", file.read(), re.M)[1]
        header = [f'-DHEADER="{path}"', f"-DSPACE={space}"]
    run = subprocess.run([nvcc, "-std=c++17", "-cubin", f"-arch={target}", "-Werror", "all-warnings", *header, "-o",
                          os.path.join(folder, f"{name}.{target}.cubin"), os.path.join(DEVICE, "alone", user_of(name) + ".cu")],
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return run.stdout if run.returncode else ""


def main():
    nvcc = shutil.which(sys.argv[1]) if len(sys.argv) > 1 else None
    if not nvcc:
        print("there is no nvcc: skipped")
        return 77
    files = sorted(name[:-4] for name in os.listdir(DEVICE) if name.endswith(".cuh"))
    alone = sorted(name[:-3] for name in os.listdir(os.path.join(DEVICE, "alone")) if name.endswith(".cu"))
    failed = [f"{name} is not in alone/, or has no .cuh" for name in sorted({user_of(name) for name in files} ^ set(alone))]
    jobs = [(name, target) for name in files if user_of(name) in alone for target in targets_of(name)]
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        said = list(pool.map(lambda job: compiled(nvcc, *job, folder), jobs))
    failed += [f"{name} for {target}:\n{text}" for (name, target), text in zip(jobs, said) if text]
    for one in failed:
        print(one)
    lines = 0
    for name in files:
        with open(os.path.join(DEVICE, name + ".cuh"), encoding="utf-8") as file:
            lines += len(file.readlines())
    print(f"{len(files)} files, {lines} lines, {len(jobs)} compiled, {len(failed)} failed")
    return 1 if failed or not jobs else 0


if __name__ == "__main__":
    sys.exit(main())
