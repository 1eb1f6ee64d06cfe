#!/usr/bin/env python3
"""What guard is made of: an SPDX 2.3 document, Debian's copyright file, and the notices that go with every copy.

Nothing is listed by hand. The linker's maps name the archives whose members are in the program, ninja names the headers that each
object was compiled with, dpkg knows whose file each is, and each package brings its licences. A file that belongs to no package
ends it: the list would not be complete.
"""
import argparse
import datetime
import hashlib
import json
import os
import re
import subprocess
import sys
import urllib.parse

# Names that Debian gives to licences, where they are not those of SPDX but for their case.
ALIASES = {"Expat": "MIT", "BSD-2clause": "BSD-2-Clause", "Boost-1": "BSL-1.0"}
SPDX = ["Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "BSL-1.0", "CC0-1.0", "MIT", "Zlib"]
KNOWN = {name.lower(): name for name in SPDX} | {old.lower(): new for old, new in ALIASES.items()}
GNU = re.compile(r"^(A?GPL|LGPL)-(\d)(\.\d)?(\+?)$")


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"}).stdout


def digest(path, kind="sha256"):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, kind).hexdigest() if hasattr(hashlib, "file_digest") else hashlib.new(kind, file.read()).hexdigest()


# ---- what was linked, and compiled ----

def read_map(path):
    """Files that were linked: those of the system, with the members taken, and our objects as (target, name of the object)."""
    members, objects, loaded, listing = {}, set(), [], False
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            if line.startswith("LOAD "):
                loaded.append(line[5:].strip())
            elif line.startswith("Archive member included"):
                listing = True
            elif listing and line.startswith(("Discarded input", "Memory Configuration", "Merging program")):
                listing = False
            elif listing and (found := re.match(r"(\S+\.a)\((.+?)\)(\s|$)", line)):
                members.setdefault(found[1], set()).add(found[2])
    system = {}
    for name in loaded:
        if name.startswith("/"):
            if name.endswith(".o") or name in members:
                system.setdefault(os.path.normpath(name), set()).update(members.get(name, {os.path.basename(name)}))
        elif name.endswith(".o"):
            objects.add((re.search(r"([^/]+)\.dir/", name)[1], os.path.basename(name)))
        else:
            target = re.sub(r"^lib(.*)\.a$", r"\1", os.path.basename(name))
            objects.update((target, member) for member in members.get(name, ()))
    return system, objects


def headers_of(build, objects):
    headers, wanted = set(), False
    for line in run("ninja", "-C", build, "-t", "deps").splitlines():
        if found := re.match(r"(\S+): #deps", line):
            place = re.search(r"([^/]+)\.dir/", found[1])
            wanted = place is not None and (place[1], os.path.basename(found[1])) in objects
        elif wanted and line.startswith("    /"):
            headers.add(os.path.normpath(line.strip()))
    return {header for header in headers if header.startswith("/usr/")}


def owners_of(paths):
    """The package of each path. /lib may be a link to /usr/lib, and dpkg knows the name that the package has used."""
    owners, ways = {}, {}
    for path in paths:
        for way in (path, path.removeprefix("/usr"), os.path.realpath(path)):
            ways.setdefault(way, path)
    said = subprocess.run(["dpkg", "-S", *sorted(ways)], capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"}).stdout
    for line in said.splitlines():
        names, _, way = line.rpartition(": ")
        if way in ways and not names.startswith("diversion"):
            owners.setdefault(ways[way], names.split(", ")[0].split(":")[0])
    if missing := sorted(set(paths) - owners.keys()):
        sys.exit(f"components: no package of Debian owns {', '.join(missing[:5])} ({len(missing)} files)")
    return owners


# ---- licences ----

def paragraphs(text):
    for block in re.split(r"\n\s*\n", text):
        fields, name = {}, None
        for line in block.splitlines():
            if line.startswith("#"):
                continue
            if line[:1].isspace() and name:
                fields[name] += "\n" + ("" if line.strip() == "." else line.strip())
            elif found := re.match(r"([A-Za-z-]+):\s*(.*)", line):
                name = found[1]
                fields[name] = found[2]
        yield fields


class Licences:
    """The licences of one package, as its copyright file names them: for all of the source but Debian's own part."""

    def __init__(self, package):
        path = os.path.realpath(f"/usr/share/doc/{package}/copyright")
        with open(path, encoding="utf-8", errors="replace") as file:
            self.text = file.read()
        self.package, self.extracted, self.path = package, {}, path
        if not self.text.startswith("Format:"):
            self.names = ["see the text"]
            self.expression = self.reference("copyright", self.text)
            return
        found, texts = set(), {}
        for fields in paragraphs(self.text):
            name, _, body = fields.get("License", "").partition("\n")
            for single in re.split(r",?\s+(?:and|or)\s+", name):
                if body.strip() and single:
                    texts.setdefault(single.strip(), body.strip())
            files = fields.get("Files", "").split()
            if name and files and not all(file.startswith("debian/") for file in files):
                found.add(name.strip())
        self.names = sorted(found)
        parts = [self.translate(name, texts) for name in self.names]
        self.expression = " AND ".join(f"({part})" if " " in part and len(parts) > 1 else part for part in dict.fromkeys(parts))

    def translate(self, name, texts):
        words = re.split(r",?\s+(and|or)\s+", name)
        single = [word.upper() if place % 2 else self.one(word.strip(), texts) for place, word in enumerate(words)]
        return " ".join(single)

    def one(self, name, texts):
        if known := KNOWN.get(name.lower()):
            return known
        if gnu := GNU.match(name):
            return f"{gnu[1]}-{gnu[2]}{gnu[3] or '.0'}-{'or-later' if gnu[4] else 'only'}"
        return self.reference(name, texts.get(name, f"{name}: see {self.path}"))

    def reference(self, name, text):
        key = "LicenseRef-" + re.sub(r"[^A-Za-z0-9.-]+", "-", f"{self.package}-{name}").strip("-")
        self.extracted[key] = (name, text)
        return key


# ---- documents ----

FORMAT = "${Package}\t${Version}\t${Architecture}\t${source:Package}\t${source:Version}\t${Maintainer}\t${Homepage}\n"


def components(build):
    system, objects = {}, set()
    for name in ("guard.map", "init/guard-init.map"):
        try:
            linked, ours = read_map(os.path.join(build, name))
        except FileNotFoundError as error:
            sys.exit(f"components: {error.filename} is not there: link again, which writes it")
        for path, members in linked.items():
            system.setdefault(path, set()).update(members)
        objects |= ours
    owners = owners_of(system)
    headers = headers_of(build, objects)
    if not system or not headers:
        sys.exit("components: the build has left no map or no list of headers")
    owners |= owners_of(headers)
    rows = {}
    for line in run("dpkg-query", "-W", "-f", FORMAT, *sorted(set(owners.values()))).splitlines():
        package, version, arch, source, source_version, maintainer, homepage = line.split("\t")
        rows[package] = {"name": package, "version": version, "arch": arch, "source": source, "source_version": source_version,
                         "maintainer": maintainer, "homepage": homepage, "licences": Licences(package),
                         "linked": {path: members for path, members in sorted(system.items()) if owners[path] == package},
                         "headers": sum(owners[header] == package for header in headers)}
    return [rows[name] for name in sorted(rows)]


def spdx_id(name):
    return "SPDXRef-Package-" + re.sub(r"[^A-Za-z0-9.-]", "-", name.replace("+", "p"))


def debian_release():
    with open("/etc/os-release", encoding="utf-8") as file:
        release = dict(line.rstrip("\n").replace('"', "").split("=", 1) for line in file if "=" in line)
    return release["ID"], release.get("VERSION_CODENAME", "")


def document(args, rows):
    program, (vendor, codename) = digest(args.program), debian_release()
    packages = [{
        "SPDXID": "SPDXRef-Package-guard", "name": "guard", "versionInfo": args.version, "packageFileName": "guard",
        "primaryPackagePurpose": "APPLICATION", "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
        "supplier": "NOASSERTION", "licenseConcluded": "NOASSERTION", "licenseDeclared": "Apache-2.0", "copyrightText": "NOASSERTION",
        "checksums": [{"algorithm": kind.upper(), "checksumValue": digest(args.program, kind)} for kind in ("sha1", "sha256")],
        "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": f"pkg:generic/guard@{args.version}"}]}]
    relationships = [{"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": "SPDXRef-Package-guard"}]
    extracted = {}
    for row in rows:
        version = urllib.parse.quote(row["version"], safe=":~.-_")
        archives = [f"{path} ({len(members)} members, SHA-256 {digest(path)})" for path, members in row["linked"].items()]
        package = {
            "SPDXID": spdx_id(row["name"]), "name": row["name"], "versionInfo": row["version"], "primaryPackagePurpose": "LIBRARY",
            "supplier": supplier(row["maintainer"]), "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
            "sourceInfo": f"built from {row['source']} {row['source_version']}; linked: {'; '.join(archives) or 'nothing'}; headers: {row['headers']}",
            "licenseConcluded": "NOASSERTION", "licenseDeclared": row["licences"].expression, "copyrightText": "NOASSERTION",
            "licenseComments": "As Debian names the licences of the whole source, its own packaging aside.",
            "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator":
                              f"pkg:deb/{vendor}/{urllib.parse.quote(row['name'])}@{version}?arch={row['arch']}&distro={codename}"}]}
        if row["homepage"]:
            package["homepage"] = row["homepage"]
        packages.append(package)
        relation = {"spdxElementId": "SPDXRef-Package-guard", "relationshipType": "STATIC_LINK" if archives else "CONTAINS",
                    "relatedSpdxElement": package["SPDXID"]}
        if not archives:
            relation["comment"] = "headers, which are compiled in"
        relationships.append(relation)
        extracted |= row["licences"].extracted
    created = datetime.datetime.fromtimestamp(args.epoch, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"guard-{args.version}",
        "documentNamespace": f"https://spdx.org/spdxdocs/guard-{args.version}-{program}",
        "creationInfo": {"created": created, "creators": ["Tool: guard-packaging"]},
        "packages": packages, "relationships": relationships,
        "hasExtractedLicensingInfos": [{"licenseId": key, "name": name, "extractedText": text}
                                       for key, (name, text) in sorted(extracted.items())]}


def supplier(maintainer):
    found = re.match(r"(.*?)\s*<(.*)>$", maintainer)
    return f"Organization: {found[1]} ({found[2]})" if found else "NOASSERTION"


def copyright_text(rows):
    lines = ["Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/", "Upstream-Name: guard",
             "Comment: /usr/bin/guard is linked statically, so it holds parts of the packages below. Beside each stand the licences that",
             " Debian names for its source; their texts and notices are in NOTICES.gz beside this file. guard.spdx.json.gz says the same",
             " for programs."]
    for row in rows:
        lines += [" .", f" {row['name']} {row['version']}:"]
        lines += [f"  {name}" for name in row["licences"].names]
    lines += ["", "Files: *", "Copyright: the authors of guard", "License: Apache-2.0",
              " On Debian systems the text of this licence is in /usr/share/common-licenses/Apache-2.0."]
    return "\n".join(lines) + "\n"


def notices(rows):
    """One copy of each text: packages of one source share a file."""
    texts = {}
    for row in rows:
        texts.setdefault(row["licences"].text, []).append(f"{row['name']} {row['version']}")
    parts = ["guard is linked statically and holds parts of these packages of Debian. What their copyright files say:\n"]
    for text, names in texts.items():
        parts.append(f"\n{'=' * 100}\n{', '.join(names)}\n{'=' * 100}\n\n{text}")
    return "".join(parts)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("build")
    parser.add_argument("out")
    parser.add_argument("--version", required=True)
    parser.add_argument("--epoch", type=int, required=True)
    args = parser.parse_args()
    args.program = os.path.join(args.build, "guard")
    rows = components(args.build)
    for name, text in (("guard.spdx.json", json.dumps(document(args, rows), indent=1, ensure_ascii=False) + "\n"),
                       ("copyright", copyright_text(rows)), ("NOTICES", notices(rows))):
        with open(os.path.join(args.out, name), "w", encoding="utf-8") as file:
            file.write(text)


main()
