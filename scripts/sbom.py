#!/usr/bin/env python3
"""Writes software bills of materials in SPDX 2.3 (JSON).

usage: scripts/sbom.py PACKAGES_DIR OUT.spdx.json

Each package of a release brings a list of the software inside it (sbom.spdx.json, by
scripts/notices.py). This joins the lists of all packages in PACKAGES_DIR, with the SHA-256 of each
file. A package without a list, the archive of the sources, contains our software only.
"""
import datetime
import hashlib
import json
import os
import pathlib
import re
import sys
import tarfile
import tempfile
import uuid
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from components import PROJECT, ROOT, fail, output_of  # noqa: E402

OWN_LICENSE = PROJECT["license"]
MAINTAINERS = "Organization: Warpwright maintainers"
CONTENTS = "sbom.spdx.json"
ARTIFACTS = ("*.tar.xz", "*.deb", "*.whl", "*.vsix")
ITSELF = "SPDXRef-Warpwright"


def identifier(kind, text):
    return f"SPDXRef-{kind}-" + re.sub(r"[^A-Za-z0-9.-]+", "-", text)


def version():
    return (ROOT / "VERSION").read_text().strip()


def created():
    """SOURCE_DATE_EPOCH, else now, as SPDX writes times."""
    seconds = os.environ.get("SOURCE_DATE_EPOCH")
    time = datetime.datetime.fromtimestamp(int(seconds), datetime.timezone.utc) if seconds else datetime.datetime.now(datetime.timezone.utc)
    return time.strftime("%Y-%m-%dT%H:%M:%SZ")


def package(reference, name, number, license_, **more):
    return {"SPDXID": reference, "name": name, "versionInfo": number, "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
            "licenseConcluded": license_, "licenseDeclared": license_, "copyrightText": "NOASSERTION"} | more


def relation(one, kind, other):
    return {"spdxElementId": one, "relationshipType": kind, "relatedSpdxElement": other}


def document(name, packages, relations):
    """The namespace follows from the content, so equal content gives an equal document."""
    content = json.dumps([packages, relations], sort_keys=True)
    return {"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": name,
            "documentNamespace": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, name + content)}",
            "creationInfo": {"created": created(), "creators": [MAINTAINERS, f"Tool: warpwright-sbom-{version()}"]},
            "packages": packages, "relationships": relations}


def component_package(component):
    supplier = "Organization: Debian" if component.purl.startswith("pkg:deb/") else "NOASSERTION"
    return package(identifier("Component", f"{component.name}-{component.version}"), component.name, component.version, component.license,
                   supplier=supplier, externalRefs=[{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                                                     "referenceLocator": component.purl}])


def write_contents(components, path):
    """The list of one package: what `components` (scripts/components.py) name is linked or bundled into it."""
    inside = [component_package(component) for component in components]
    itself = package(ITSELF, "warpwright", version(), OWN_LICENSE, supplier=MAINTAINERS)
    relations = [relation("SPDXRef-DOCUMENT", "DESCRIBES", ITSELF), *(relation(ITSELF, "CONTAINS", one["SPDXID"]) for one in inside)]
    path.write_text(json.dumps(document(f"warpwright-{version()}", [itself, *inside], relations), indent=1) + "\n")


def texts_in(artifact, name):
    """The files called `name` in a package. The extension with programs has two: of what it bundles, and of the programs."""
    if artifact.suffix in (".whl", ".vsix"):
        with zipfile.ZipFile(artifact) as archive:
            found = [one for one in archive.namelist() if pathlib.PurePosixPath(one).name == name]
            return [archive.read(one).decode() for one in sorted(found)]
    if artifact.suffix == ".deb":
        with tempfile.TemporaryDirectory() as folder:
            output_of("dpkg-deb", "-x", artifact, folder)
            return [path.read_text() for path in sorted(pathlib.Path(folder).rglob(name))]
    with tarfile.open(artifact) as archive:
        return [archive.extractfile(member).read().decode() for member in archive.getmembers() if pathlib.PurePosixPath(member.name).name == name]


def artifact_package(artifact):
    with open(artifact, "rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return package(identifier("File", artifact.name), artifact.name, version(), OWN_LICENSE, supplier=MAINTAINERS, packageFileName=artifact.name,
                   checksums=[{"algorithm": "SHA256", "checksumValue": digest}])


def write_release(folder, path):
    artifacts = sorted(file for pattern in ARTIFACTS for file in folder.glob(pattern))
    if not artifacts:
        fail(f"there are no packages in {folder}: make package")
    inside, packages, relations = {}, [], []
    for artifact in artifacts:
        own = artifact_package(artifact)
        packages.append(own)
        relations.append(relation("SPDXRef-DOCUMENT", "DESCRIBES", own["SPDXID"]))
        for text in texts_in(artifact, CONTENTS):
            for one in json.loads(text)["packages"]:
                if one["SPDXID"] != ITSELF:
                    inside[one["SPDXID"]] = one
                    relations.append(relation(own["SPDXID"], "CONTAINS", one["SPDXID"]))
    everything = packages + [inside[reference] for reference in sorted(inside)]
    path.write_text(json.dumps(document(f"warpwright-{version()}-release", everything, relations), indent=1) + "\n")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    write_release(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
