#!/usr/bin/env python3
"""sizes.py MAP [BEFORE]: what the program is made of, by archive and section, from the linker's map of it, in kilobytes; with the
map of an earlier build also what changed. Built objects and libraries of ours are one line each, as everything else is."""
import collections
import re
import sys

SECTIONS = [".text", ".rodata", ".eh_frame", ".gcc_except_table", ".data.rel.ro", ".data"]
PIECE = re.compile(r"^ (?:\S+)?\s+0x[0-9a-f]+\s+0x([0-9a-f]+)\s+(/?\S.*)$")


def read(path):
    sizes, section = collections.defaultdict(collections.Counter), None
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            if line.startswith("."):
                section = line.split()[0]
            elif section in SECTIONS and (piece := PIECE.match(line)) and not line.startswith(" *fill*"):
                archive = re.search(r"([^/]+\.a)\(", piece[2])
                sizes[archive[1] if archive else "objects"][section] += int(piece[1], 16)
    return sizes


def main():
    now, before = read(sys.argv[1]), read(sys.argv[2]) if len(sys.argv) > 2 else None
    if not now:
        sys.exit(f"sizes: {sys.argv[1]} is no map of GNU ld")
    now["all"] = sum(now.values(), collections.Counter())
    if before is not None:
        before["all"] = sum(before.values(), collections.Counter())
    print(f"{'kB':<28}" + "".join(f"{name:>18}" for name in SECTIONS + ["all"] + (["before"] if before is not None else [])))
    for name in sorted(now, key=lambda name: -now[name].total()):
        cells = [now[name][section] for section in SECTIONS] + [now[name].total()]
        if before is not None:
            cells.append(before[name].total())
        if now[name].total() >= 20_000:
            print(f"{name:<28}" + "".join(f"{round(cell / 1000):>18,}" for cell in cells))


main()
