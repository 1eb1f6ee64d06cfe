#!/usr/bin/env python3
"""sessions.py GUARD [BACKEND [IMAGE]]: what a command costs in a session, beside the same command alone, in bubblewrap (namespace)
or by `docker exec` (docker), in turns in one run; beside a command that prints 100 MB; in many sessions side by side; and without
a server. IMAGE: one made by `guard image build --template python IMAGE`. Needs GUARD_BUN, bwrap, and for docker an engine and its
client. Figures: bench/sessions.md."""
import concurrent.futures, json, multiprocessing, os, pathlib, re, socket, statistics, subprocess, sys, tempfile, time

guard, backend, image = os.path.abspath(sys.argv[1]), *(sys.argv[2:] + ["namespace", ""][len(sys.argv) - 2:])[:2]
bun = os.environ["GUARD_BUN"]
bare_argv = {"bun": bun, "true": "/usr/bin/true", "python3": "/usr/bin/python3"}
measured = [["true"], ["python3", "-c", "0"]] if image else [["bun", "--revision"], ["bun", "-e", "0"]]
least = measured[0]
flood = ["python3", "-c", "import os\nfor i in range(1600): os.write(1, b'a' * 65536)"] if image else ["bun", "-e",
    "const chunk = Buffer.alloc(65536, 97); for (let i = 0; i < 1600; ++i) require('fs').writeSync(1, chunk)"]
place = ["--backend", backend] + (["--image", image] if image else [])
rounds, sessions, commands = 100, 50, 10
state = tempfile.TemporaryDirectory(prefix="guard-bench-")
os.chmod(state.name, 0o711)
project = pathlib.Path(state.name) / "project"
project.mkdir()
(project / "package.json").write_text('{"name": "bench"}\n')
server = subprocess.Popen([guard, "serve", "--quiet", "--state", state.name, "--project", project] + place)


def ask(method, path, body=None):
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(state.name + "/sessions/socket")
        bytes_ = json.dumps(body).encode() if body is not None else b""
        connection.sendall(f"{method} {path} HTTP/1.1\r\nHost: guard\r\nContent-Length: {len(bytes_)}\r\n\r\n".encode() + bytes_)
        answer = []
        while chunk := connection.recv(65536):
            answer.append(chunk)
    return b"".join(answer)


def execute(session, argv):
    began = time.perf_counter()
    answer = ask("POST", f"/v1/sessions/{session}/exec?open=1", {"argv": argv})
    took = (time.perf_counter() - began) * 1000
    assert b'"kind":"exited","value":0' in answer, answer
    return took


def alone(argv):
    nothing = [(os.POSIX_SPAWN_OPEN, number, "/dev/null", os.O_RDWR, 0) for number in range(2)]
    began = time.perf_counter()
    _, status = os.waitpid(os.posix_spawnp(argv[0], argv, os.environ, file_actions=nothing), 0)
    assert status == 0, argv
    return (time.perf_counter() - began) * 1000


def beside():
    """A name, and what comes before a command, for the peer of this backend."""
    if backend != "docker":
        return "bwrap", ["bwrap", "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "--unshare-all", "--die-with-parent"], bare_argv, []
    docker = ["docker"] + (["--host", os.environ["DOCKER_HOST"]] if "DOCKER_HOST" in os.environ else [])
    names = subprocess.run(docker + ["ps", "--filter", "label=guard.run", "--format", "{{.Image}}"], capture_output=True, text=True, check=True).stdout
    inside = {"bun": "/usr/local/bin/bun"}
    stays = ["python3", "-c", "import time\ntime.sleep(1e6)"] if image else ["bun", "-e", "setInterval(() => {}, 1e6)"]
    stays[0] = inside.get(stays[0], stays[0])
    started = subprocess.run(docker + ["run", "--detach", "--rm", "--network=none", "--entrypoint", stays[0], names.split()[0]] + stays[1:],
        capture_output=True, text=True, check=True).stdout.strip()
    return "docker exec", docker + ["exec", started], inside, docker + ["kill", started]


def quantiles(times):
    times = sorted(times)
    at = lambda share: times[min(len(times) - 1, int(share * len(times)))]
    return f"{at(0.5):.2f} / {at(0.95):.2f} / {at(0.99):.2f}"


def memory_of(marker):
    """Of all processes below those that carry the marker on their command line: proportional set size, MB."""
    total = 0
    for folder in pathlib.Path("/proc").iterdir():
        try:
            if folder.name.isdigit() and marker in (folder / "cmdline").read_bytes():
                total += int(re.search(rb"^Pss:\s+(\d+)", (folder / "smaps_rollup").read_bytes(), re.M)[1])
        except (OSError, TypeError):
            pass
    return total / 1024


try:
    while True:
        assert server.poll() is None, "guard serve has ended"
        try:
            if json.loads(ask("GET", "/v1/stats").split(b"\r\n\r\n", 1)[1].split(b"\r\n")[1])["pool"]["ready"] >= 5:
                break
        except (OSError, IndexError):
            pass
        time.sleep(0.05)
    print(f"{backend}, {rounds} in turns, ms: median / 95 % / 99 %")
    print(f"  first command, from the pool   {execute('bench/first', least):.2f}")
    peer, before, inside_of, after = beside()
    for argv in measured:
        bare, inside, other = [], [], []
        for number in range(rounds):
            bare.append(alone([bare_argv[argv[0]]] + argv[1:]))
            inside.append(execute("bench/first", argv))
            if number % 5 == 0:
                other.append(alone(before + [inside_of.get(argv[0], argv[0])] + argv[1:]))
        print(f"  {' '.join(argv):<16} alone         {quantiles(bare)}")
        print(f"  {' '.join(argv):<16} in a session  {quantiles(inside)}")
        print(f"  {' '.join(argv):<16} {peer:<13} {quantiles(other)}")
        print(f"  {'':<16} more          {statistics.median(inside) - statistics.median(bare):.2f}")
    if after:
        subprocess.run(after, stdout=subprocess.DEVNULL, check=True)
    printing = multiprocessing.Process(target=execute, args=("bench/first", flood))
    printing.start()
    meanwhile = []
    while printing.is_alive():
        meanwhile.append(execute("bench/first", least))
    print(f"  {' '.join(least):<16} while another command prints 100 MB: {quantiles(meanwhile)} ({len(meanwhile)} times)")
    began = time.perf_counter()
    with concurrent.futures.ThreadPoolExecutor(sessions) as pool:
        work = lambda number: [execute(f"bench/s{number}", least) for _ in range(commands)]
        times = [took for took in pool.map(work, range(sessions))]
    span = time.perf_counter() - began
    print(f"  {sessions} new sessions x {commands} commands: {sessions * commands / span:.0f} a second")
    print(f"    first of each  {quantiles([took[0] for took in times])}")
    print(f"    the others     {quantiles([one for took in times for one in took[1:]])}")
    print(f"    memory of the sandboxes: guard-init {memory_of(b'--serve'):.1f} MB, shims {memory_of(b'containerd-shim'):.1f} MB; "
        f"guard serve {memory_of(b'serve' + bytes(1) + b'--quiet'):.1f} MB")
    server.terminate()
    server.wait()
    cold = [alone([guard, "session", "exec", "--quiet", "--state", state.name + "/cold", "--project", project] + place +
        [f"bench/cold{number}", "--"] + least) for number in range(20)]
    print(f"  {' '.join(least):<16} without a server, in a new session: {quantiles(cold)}")
finally:
    server.terminate()
    server.wait()
    state.cleanup()
