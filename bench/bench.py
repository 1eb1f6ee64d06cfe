#!/usr/bin/env python3
"""bench.py GUARD READ_FILES SOURCES [--json] [--compare [REV]] [--only WORDS]: guard beside its peers, in one table (docs/performance.md).

Each row is a pair of commands that hyperfine runs in turns, guard first in every other round. A ratio is the median of the
rounds' ratios, so what slows the machine for a while slows both. Instructions are callgrind's, and don't depend on the load.
A line of JSON for each row goes to .cache/bench/history.jsonl; --compare shows the newest run of another commit (or of REV).

GUARD_BUN names bun; GUARD_TEST_DOCKER_SOCKET or DOCKER_HOST an engine. SOURCES: a folder of packages from npm; where there is
none, test files are generated."""
import argparse, concurrent.futures, dataclasses, datetime, json, os, pathlib, random, re, shutil, statistics, subprocess, sys, tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
CACHE = ROOT / ".cache/bench"


@dataclasses.dataclass
class Row:
    what: str
    guard: str
    peer: str
    name: str  # of the peer
    aim: float = 0  # at most this ratio, or at least this many GB/s of `size` bytes; 0: none
    size: int = 0
    rounds: int = 10
    runs: int = 1  # of each, in a round
    rejected: bool = False  # guard finds something, or reading finds nothing to match
    counted: str = ""  # the command whose instructions are counted
    per: int = 0  # bytes of its input, where they are shown for each
    folder: str = "project"


def output(*command, **more):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)
    if done.returncode != 0:
        sys.exit(f"bench: {' '.join(map(str, command))}: {done.stderr.strip() or done.returncode}")
    return done.stdout


def patterns(guard, secret, path):
    """Writes the shipped rules' own patterns, one a line: what rg is given for the same work without views. Returns how many it
    refuses, which are left out in its favour."""
    ids = [rule["id"] for rule in json.loads(output(guard, "rules", "list", "--format", "json"))["rules"]
           if (rule["tier"] == "secret") == secret]

    def accepted(pattern):
        return subprocess.run(["rg", "--no-unicode", "-e", pattern, "/dev/null"], stderr=subprocess.DEVNULL).returncode <= 1
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        shown = pool.map(lambda id: json.loads(output(guard, "rules", "show", id, "--format", "json"))["patterns"], ids)
        every = [pattern for rule in shown for pattern in rule]
        usable = [pattern for pattern, works in zip(every, pool.map(accepted, every)) if works]
    path.write_text("\n".join(usable) + "\n")
    return len(every) - len(usable)


def test_text(count):
    return 'import { expect, test } from "bun:test";\n' + "".join(
        f'test("adds {i}", () => {{\n  const sum = [{i}, 2, 3].reduce((a, b) => a + b, 0);\n  expect(sum).toBe({i + 5});\n}});\n'
        for i in range(1, count + 1))


def make_tree(sources, tree):
    """Some 6,000 files that exist once and stay: of packages, as links, or generated. Says which."""
    kind = "npm" if (sources / "node_modules").is_dir() else "generated"
    if not (tree / kind).is_dir():
        shutil.rmtree(tree, ignore_errors=True)
        if kind == "npm":
            for file in (sources / "node_modules").rglob("*"):
                if re.search(r"\.([cm]?[jt]s|[jt]sx)$", file.name) and file.is_file() and file.stat().st_size < 2 << 20:
                    to = tree / "new" / file.relative_to(sources / "node_modules")
                    to.parent.mkdir(parents=True, exist_ok=True)
                    os.link(file, to)
        for i in range(6000 if kind == "generated" else 0):
            to = tree / "new" / str(i // 100) / f"f{i}.test.ts"
            to.parent.mkdir(parents=True, exist_ok=True)
            to.write_text(test_text(i % 120 + 1) + ("JSON.stringify(process.env);\n" if i % 20 == 0 else ""))
        (tree / "new").rename(tree / kind)
    return kind


def log_text(size):
    """What test runs, servers and builds print, with a secret every 50 KB: built from parts, so that no scanner takes this file
    for one that holds secrets."""
    rng = random.Random(7)
    alnum, digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", "0123456789abcdef"
    listed = ("request finished for user cache miss compiling module loaded in the component render update failed expected received "
              "worker queue status connection closed by peer warning deprecated option use instead build output written to chunk asset "
              "size test suite passed snapshot items order total").split()

    def text(count, alphabet=alnum): return "".join(rng.choices(alphabet, k=count))
    def words(count): return " ".join(rng.choices(listed, k=count))
    number = rng.randrange
    lines = [
        lambda: f"2024-05-0{number(9)}T12:{number(59)}:03.{number(999)}Z INFO  [worker-{number(16)}] GET /api/v2/items/{number(99999)}"
                f"?page={number(9)} took {number(900)} ms (status 200, {number(90000)} bytes)",
        lambda: f"(pass) {words(4)} > {words(5)} [{number(20)}.{number(99)}ms]",
        lambda: f"      at {words(1)} (/app/src/{words(1)}/{words(1)}.ts:{number(400)}:{number(80)})",
        lambda: f"\x1b[32m\u2713\x1b[0m {words(6)} \x1b[2m[{number(9)}.03ms]\x1b[0m",
        lambda: f"commit {text(40, digits)} {words(8)}",
        lambda: f'  const {words(1)} = await {words(1)}("{words(2)}", {{ retries: {number(5)}, timeout: {number(9000)} }});',
        lambda: f"WARN  {words(14)}",
        lambda: f"[{number(300)}/300] {words(2)} src/components/{words(1)}_{words(1)}.tsx -> dist/{words(1)}.{text(8, digits)}.js"]
    secrets = [
        lambda: "key sk-" + "ant-api03-" + text(93) + "AA", lambda: "remote: gh" + "p_" + text(36),
        lambda: "AWS_ACCESS_KEY_ID=AK" + "IA" + text(16, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"),
        lambda: "Authorization: Bearer " + text(40), lambda: "postgres://app:" + text(20) + "@db.internal:5432/main",
        lambda: "token ey" + "J" + text(40) + ".ey" + "J" + text(120) + "." + text(43)]
    out, length, hidden = [], 0, 0
    while length < size:
        line = rng.choice(lines)()
        if length // 50000 >= hidden:
            hidden, line = hidden + 1, line + " " + rng.choice(secrets)()
        out.append(line + "\n")
        length += len(out[-1].encode())
    return "".join(out)


def make_project(folder, files=0, modules=0):
    (folder / "sandbox").mkdir(parents=True)
    (folder / "package.json").write_text('{"name": "bench", "private": true}\n')
    (folder / "guard.toml").write_text('trust_namespace = true\n[limits]\nmemory = "2g"\n')
    (folder / "sandbox/a.test.ts").write_text(test_text(35))
    for i in range(files):
        (folder / f"sandbox/f{i}.test.ts").write_text(test_text(1))
    for i in range(modules):
        (folder / f"lib/{i // 100}").mkdir(parents=True, exist_ok=True)
        (folder / f"lib/{i // 100}/f{i}.ts").write_text(f"export const value{i} = {i};\n")
    for command in (["init", "-q"], ["add", "-A"], ["-c", "user.name=bench", "-c", "user.email=bench@example.org",
            "-c", "maintenance.auto=false", "commit", "-qm", "a"]):
        output("git", *command, cwd=folder)


def measure(row, work):
    """The medians of both, in seconds, and the median of the rounds' ratios."""
    times, ratios = {"guard": [], "peer": []}, []
    for round in range(row.rounds + 1):
        names = ["guard", "peer"][::1 if round % 2 else -1]
        given = [word for name in names for word in ("-n", name, getattr(row, name))]
        subprocess.run(["hyperfine", "-N", "-i", "--style", "none", "--runs", str(row.runs), "--export-json", work / "round.json", *given],
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=work / row.folder)
        results = {result["command"]: result for result in json.loads((work / "round.json").read_text())["results"]}
        for name, result in results.items():
            if set(result["exit_codes"]) != {1 if row.rejected and name == "guard" else 0}:
                sys.exit(f"bench: {row.what}: {getattr(row, name)}: exit codes {set(result['exit_codes'])}")
        if round > 0:  # the first is there to warm up
            ratios.append(results["guard"]["median"] / results["peer"]["median"])
            for name in times:
                times[name] += results[name]["times"]
    return statistics.median(times["guard"]), statistics.median(times["peer"]), statistics.median(ratios)


def instructions(command, folder):
    said = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *command.split()], cwd=folder, text=True,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL).stderr
    return int(re.search(r"Collected : (\d+)", said)[1])


def rows(guard, reader, sources, work):
    bun = os.environ["GUARD_BUN"]
    kind = make_tree(sources, CACHE / "tree")
    tree = CACHE / "tree" / kind
    log, piece, small = CACHE / "log.txt", CACHE / "log_5mb.txt", work / "log"
    if not log.exists():
        piece.write_text(log_text(5_000_000), "utf-8")
        log.write_bytes(piece.read_bytes() * 20)
    small.write_bytes(piece.read_bytes()[:100_000])
    flags = pathlib.Path("/proc/cpuinfo").read_text()
    size = log.stat().st_size

    for name, more in (("project", {"files": 50}), ("large", {"modules": 10000})):
        make_project(work / name, **more)
        output(guard, "image", "build", "--root-folder", cwd=work / name)
    project = work / "project"
    (work / "guilty").mkdir()
    for i in range(5):
        (work / f"guilty/{i}.ts").write_text(test_text(35) + f'eval("{i}");\nrequire("child_process");\n')
    # ripgrep's copy ends in something to find: its exit status tells a search that has failed.
    (project / "rg.ts").write_text(test_text(35) + "JSON.stringify(process.env);\n")
    (work / "list").write_bytes(b"\0".join(os.fsencode(file) for file in tree.rglob("*") if file.is_file()) + b"\0")
    refused = [patterns(guard, secret, work / name) for secret, name in ((False, "rules"), (True, "secrets"))]
    print(f"bench: tree of {kind} files; rg refuses {refused[0]} patterns of rules and {refused[1]} of secrets", file=sys.stderr)

    one = f"{guard} check sandbox/a.test.ts"
    yield Row("check one clean file of 4 KB", one, "/bin/true", "/bin/true", 1.5, rounds=40, runs=10, counted=one)
    yield Row("the same", one, f"rg --no-unicode -c -f {work}/rules rg.ts", "rg -f", runs=5)
    guilty = f"{guard} check --mode host {work}/guilty"
    yield Row("check five guilty files", guilty, "/bin/true", "/bin/true", 2.2, rounds=40, runs=10, rejected=True, counted=guilty)
    check = f"{guard} check --mode host --no-ignore {tree}"
    yield Row(f"check a tree ({kind})", check, f"rg --no-unicode --no-ignore --hidden -c -f {work}/rules {tree}", "rg -f", 0.25 if kind == "npm" else 0, rounds=5,
              rejected=True)
    yield Row("the same", check, f"sh -c '{reader} {os.cpu_count()} <{work}/list'", "reading", 4 if kind == "npm" else 0, rejected=True)
    redact, pipe = f"{guard} redact {log}", f"sh -c 'cat {log} | cat'"
    yield Row("redact a log of 100 MB", redact, pipe, "cat | cat", 1.5 if "avx512bw" in flags else 1.0, size=size,
              counted=f"{guard} redact {piece}", per=piece.stat().st_size)
    yield Row("the same through a pipe", f"sh -c 'cat {log} | {guard} redact'", pipe, "cat | cat", size=size)
    yield Row("redact a log of 100 KB", f"{guard} redact {small}",
              f"rg --no-unicode --text --passthru -N --no-filename -r [REDACTED] -f {work}/secrets {small}", "rg -r", rounds=2)
    run = f"{guard} run --quiet --backend namespace sandbox/"
    yield Row("run one test file, embedded", run + "a.test.ts", f"{bun} test ./sandbox/a.test.ts", "bun test", 2.5, rounds=20)
    yield Row("run 50 test files", run + " sandbox/".join(f"f{i}.test.ts" for i in range(50)),
              f"sh -c 'for f in ./sandbox/f*; do {bun} test $f || exit; done'", "50 x bun test", rounds=5)
    yield Row("run one in a project of 10,000 files", run + "a.test.ts", f"{bun} test ./sandbox/a.test.ts", "bun test", rounds=5, folder="large")
    if subprocess.run(["docker", "version"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0:
        image = json.loads(output(guard, "image", "build", "--engine", "--format", "json", cwd=project))["reference"]
        yield Row("run one test file, docker", f"{guard} run --quiet --backend docker sandbox/a.test.ts",
                  "docker run --rm --network=none --memory=2g --cpus=2 --pids-limit=256 --cap-drop=ALL --security-opt=no-new-privileges "
                  f"--read-only --tmpfs /tmp:rw,noexec,size=500m -e HOME=/tmp -v {project}/package.json:/app/package.json:ro "
                  f"-v {project}/sandbox:/app/sandbox:rw --user 1000:1000 {image} /usr/local/bin/bun test /app/sandbox/a.test.ts",
                  "docker client", 0.85)
    else:
        print("bench: no container engine answers: docker is left out", file=sys.stderr)


def shown(result, before, colour):
    def cell(text, width): return f"{text:>{width}}"
    unit = f"{result['instructions'] / 1e6:.2f} M" if not result["per"] else f"{result['instructions'] / result['per']:.0f}/byte"
    text = f"{result['what']:<37}{result['guard'] * 1000:>10.2f}{result['peer'] * 1000:>10.2f}  {result['name']:<14}{result['ratio']:>8.3f}"
    if before is not None:
        text += cell(f"{before['ratio']:.3f}", 9) + cell(f"{(result['ratio'] / before['ratio'] - 1) * 100:+.1f} %", 9)
        if result["instructions"] and before["instructions"]:
            unit += f" ({(result['instructions'] / before['instructions'] - 1) * 100:+.2f} %)"
    rate = f"{result['gb_s']:.2f} GB/s" if result["gb_s"] else ""
    aim = ("", f"{'>=' if rate else '<='} {result['aim']:g}")[result["aim"] > 0]
    verdict = {True: "met", False: "missed", None: ""}[result["met"]]
    if colour and verdict:
        verdict = f"\x1b[{32 if result['met'] else 31}m{verdict:<6}\x1b[0m"
    return f"{text}{rate:>11}{aim:>9} {verdict:<6} {unit if result['instructions'] else ''}".rstrip()


def main():
    parser = argparse.ArgumentParser(usage="./dev bench [--json] [--compare [REV]] [--only WORDS]")
    for name in ("guard", "reader", "sources"):
        parser.add_argument(name, type=lambda path: pathlib.Path(path).resolve(), help=argparse.SUPPRESS)
    parser.add_argument("--json", action="store_true", help="one document instead of the table")
    parser.add_argument("--compare", nargs="?", const="", metavar="REV", help="beside the newest run of another commit, or of this one")
    parser.add_argument("--only", default="", metavar="WORDS", help="only rows that have these words: check, redact, docker")
    options = parser.parse_args()

    def commit(rev): return output("git", "-C", ROOT, "rev-parse", "--short=12", rev + "^{commit}").strip()
    now = commit("HEAD") + ("+" if output("git", "-C", ROOT, "status", "--porcelain", "--untracked-files=no") else "")
    cpu = re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())
    CACHE.mkdir(parents=True, exist_ok=True)
    history = CACHE / "history.jsonl"
    old = [json.loads(line) for line in history.read_text().splitlines()] if history.exists() else []
    if options.compare is not None:
        wanted = commit(options.compare) if options.compare else None
        old = [entry for entry in old if options.only in f"{entry['what']} {entry['name']}" and
               (entry["commit"].rstrip("+") == wanted if wanted else entry["commit"] != now)]
        old = {(entry["what"], entry["name"]): entry for entry in old if entry["commit"] == old[-1]["commit"]}
        if not old:
            sys.exit("bench: there is no run of " + (options.compare or "another commit") + f" in {history}")
        then = list(old.values())[-1]
        print(f"bench: before is {then['commit']} of {then['date']}, {then['cpu']}", file=sys.stderr)
    socket = os.environ.get("GUARD_TEST_DOCKER_SOCKET")
    for name in [name for name in os.environ if name.startswith("GUARD_") and name != "GUARD_BUN"]:
        del os.environ[name]
    if socket:
        os.environ["DOCKER_HOST"] = "unix://" + socket
    colour = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    date = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
    results = []
    with tempfile.TemporaryDirectory(prefix="guard-bench-") as work:
        work = pathlib.Path(work)
        work.chmod(0o711)  # root's sandbox runs as another user
        os.environ.update(GUARD_CACHE_DIR=f"{work}/cache", GUARD_STATE_DIR=f"{work}/state")
        for row in rows(options.guard, options.reader, options.sources, work):
            if options.only not in f"{row.what} {row.name}":
                continue
            if not results and not options.json:
                print(f"{'':<37}{'guard ms':>10}{'peer ms':>10}  {'peer':<14}{'ratio':>8}" +
                      ("" if options.compare is None else f"{'before':>9}{'change':>9}") + f"{'':>11}{'aim':>9} {'':<6} instructions")
            guard, peer, ratio = measure(row, work)
            rate = row.size / guard / 1e9
            result = {"what": row.what, "name": row.name, "guard": guard, "peer": peer, "ratio": ratio, "aim": row.aim, "gb_s": rate,
                      "met": None if not row.aim else rate >= row.aim if row.size else ratio <= row.aim, "per": row.per,
                      "instructions": instructions(row.counted, work / row.folder) if row.counted else 0,
                      "commit": now, "date": date, "cpu": cpu[1] if cpu else "", "processors": os.cpu_count()}
            results.append(result)
            with history.open("a") as file:
                file.write(json.dumps(result) + "\n")
            if not options.json:
                before = old.get((row.what, row.name)) if options.compare is not None else None
                print(shown(result, before, colour), flush=True)
    if options.json:
        print(json.dumps(results, indent=1))


main()
