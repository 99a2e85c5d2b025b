#!/usr/bin/env python3
"""Writes the licenses that a package of Warpwright must carry: our own and those of the software that is shipped inside it.

usage: scripts/notices.py programs BUILD_DIR OUT_DIR [PROGRAM...]  what the programs of a finished build link in
       scripts/notices.py extension META.json FOLDER OUT_DIR       what esbuild bundled into the VS Code extension in FOLDER

PROGRAMs are paths in BUILD_DIR; by default those of the .deb.

OUT_DIR gets LICENSE, NOTICE, THIRD_PARTY.txt (a list with versions and licenses), licenses/ (the
texts) and the same list as SPDX for programs, sbom.spdx.json. scripts/components.py finds the list.
"""
import pathlib
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import sbom  # noqa: E402
from components import ROOT, SHIPPED, bundled_components, program_components  # noqa: E402

LGPL = """libseccomp is under the GNU Lesser General Public License, version 2.1, and is linked in statically. So that you can change
it and link these programs again: they are built from the source of Warpwright, which is offered at the place this package is from as
warpwright-VERSION-source.tar.xz, by `make build`, against any libseccomp.a that is installed. The source of libseccomp is Debian's
source package libseccomp {version}. For three years from the day you received this package the Warpwright maintainers
give anyone who asks the source of both, for no more than the cost of doing so. You may change these programs for your own use and
reverse engineer them to debug such changes."""


def listed(component):
    texts = ", ".join(f"licenses/{name}" for name in component.texts if name.endswith(".txt"))
    return f"{component.name} {component.version}\n  license: {component.license}\n  text: {texts}\n  in: {component.where}\n"


def write_texts(components, folder):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for component in components:
        for name, text in component.texts.items():
            old = (folder / name).read_text() if (folder / name).exists() else ""  # two versions of one package
            (folder / name).write_text(old if text in old else old + text)


def write(components, heading, notes, out):
    write_texts(components, out / "licenses")
    for name in ("LICENSE", "NOTICE"):
        shutil.copyfile(ROOT / name, out / name)
    (out / "THIRD_PARTY.txt").write_text("\n".join([heading + "\n", *map(listed, components), *(note + "\n" for note in notes)]))
    sbom.write_contents(components, out / "sbom.spdx.json")


def main(arguments):
    if len(arguments) >= 3 and arguments[0] == "programs":
        components = program_components(pathlib.Path(arguments[1]).resolve(), arguments[3:] or SHIPPED)
        notes = [LGPL.format(version=component.version) for component in components if component.name == "libseccomp"]
        write(components, "Software of others in the programs of Warpwright. Versions are those of Debian's packages.", notes,
              pathlib.Path(arguments[2]))
    elif len(arguments) == 4 and arguments[0] == "extension":
        meta, folder, out = map(pathlib.Path, arguments[1:])
        write(bundled_components(meta, folder), "Software of others in the extension: npm packages, bundled into out/extension.js.", [], out)
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
