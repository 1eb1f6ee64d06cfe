#!/usr/bin/env python3
"""session_chaos.py GUARD BACKEND [ROUNDS [SEED]]: `guard serve` is killed with SIGKILL at a random moment while sessions are at
work, ROUNDS times (200 unless given), the init of a session's sandbox a quarter as often, and for docker the engine 15 % as often.
After each death every session goes on, no count that it has confirmed is lost and its file is whole; the ledger passes
integrity_check; and there is no sandbox, process, control group, mount, folder or log that it does not know. An init that dies
costs its own session one command, and the others nothing.

Needs root, GUARD_BUN, and for docker dockerd: it starts an engine of its own below /tmp and ends it by pid. Exits with 1 at the
first round that went wrong, and says why; the folder is kept then."""
import base64, hashlib, http.client, json, os, pathlib, random, shutil, signal, socket, sqlite3, subprocess, sys, tempfile, threading, time

guard, backend = os.path.abspath(sys.argv[1]), sys.argv[2]
rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 200
seed = sys.argv[4] if len(sys.argv) > 4 else str(time.time_ns())
chance = random.Random(seed)
bun, work = os.environ["GUARD_BUN"], pathlib.Path(tempfile.mkdtemp(prefix="gchaos.", dir="/tmp"))
work.chmod(0o711)
state, cache, project = work / "state", work / "cache", work / "project"
for folder in (state, cache, project):
    folder.mkdir(mode=0o755)
(project / "package.json").write_text('{"name": "chaos"}\n')
environment = {name: value for name, value in os.environ.items() if name == "GUARD_BUN" or not name.startswith("GUARD_")}
environment |= {"GUARD_CACHE_DIR": str(cache), "GUARD_TRUST_NAMESPACE": "true", "DOCKER_HOST": f"unix://{work}/s"}

COUNT = """const fs = require('fs'); let n = 0; try { n = +fs.readFileSync('n', 'utf8') } catch {}
fs.writeFileSync('n.new', String(n + 1)); fs.renameSync('n.new', 'n'); console.log(n + 1)"""


class Failed(Exception):
    pass


class Connection(http.client.HTTPConnection):
    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(90)
        self.sock.connect(str(state / "sessions/socket"))


def ask(method, path, body=None):
    """Status and bytes; OSError or HTTPException where nobody answers to the end."""
    connection = Connection("guard")
    try:
        connection.request(method, path, body)
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def until(seconds, what, condition):
    """The first true value of condition()."""
    deadline = time.monotonic() + seconds
    while not (value := condition()):
        if time.monotonic() > deadline:
            raise Failed(f"{what} within {seconds} s")
        time.sleep(0.02)
    return value


# ---- who is killed ------------------------------------------------------------------------------------------------------


class Engine:
    process = None

    def start(self):
        for _ in range(4):
            for stale in (work / "p", work / "s", *(work / "e/containerd").glob("*.pid")):
                stale.unlink(missing_ok=True)
            with open(work / "engine.log", "ab") as log:
                self.process = subprocess.Popen(["dockerd", "--data-root", work / "d", "--exec-root", work / "e", "--pidfile", work / "p",
                    "--host", f"unix://{work}/s", "--iptables=false", "--bridge=none"], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
            for _ in range(400):
                if docker("version").returncode == 0:
                    return
                if self.process.poll() is not None:
                    break
                time.sleep(0.1)
            self.kill(with_containerd=True)
            time.sleep(1)
        raise Failed("the engine did not start")

    def kill(self, with_containerd):
        self.process.kill()
        self.process.wait()
        if with_containerd:
            kill_all(naming=f"{work}/e/containerd/containerd.toml")

    def stop(self):
        if self.process is not None:
            self.process.terminate()
            try:
                self.process.wait(15)
            except subprocess.TimeoutExpired:
                pass
            kill_all(naming=f"{work}/")
        for line in pathlib.Path("/proc/self/mountinfo").read_text().splitlines()[::-1]:
            if (target := line.split()[4]).startswith(f"{work}/"):
                subprocess.run(["umount", "--lazy", target], stderr=subprocess.DEVNULL)


class Server:
    process = None

    def start(self):
        with open(work / "serve.log", "ab") as log:
            self.process = subprocess.Popen([guard, "serve", "--quiet", "--state", state, "--backend", backend, "--project", project],
                env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        until(60, "guard serve did not answer", self.answers)

    def answers(self):
        if self.process.poll() is not None:
            raise Failed(f"guard serve has ended with {self.process.returncode}")
        try:
            return ask("GET", "/healthz")[0] == 200
        except (OSError, http.client.HTTPException):
            return False

    def kill(self):
        self.process.kill()
        self.process.wait()


def docker(*words):
    return subprocess.run(["timeout", "-k", "1", "10", "docker", "--host", f"unix://{work}/s", *words], capture_output=True, text=True)


def processes():
    for folder in pathlib.Path("/proc").iterdir():
        if folder.name.isdigit() and int(folder.name) != os.getpid():
            yield folder


def read(path):
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""


def kill_all(naming):
    for folder in processes():
        if naming in read(folder / "cmdline"):
            try:
                os.kill(int(folder.name), signal.SIGKILL)
            except ProcessLookupError:
                pass


unborn = set()


def inhabitants():
    """Every process in a sandbox of ours: (pid, the id of its workspace, whether it is process 1 there)."""
    place = f"{state}/sessions/workspaces/"
    for folder in processes():
        mounts = read(folder / "mountinfo")
        at = mounts.find(" " + place.removeprefix(mount_of_work))
        if at < 0 or os.stat("/proc/self/ns/mnt").st_ino == inode(folder / "ns/mnt"):
            continue
        if read(folder / "comm").startswith("runc:["):
            unborn.add(int(folder.name))  # containerd died between create and start: the engine's own, and nothing of us runs in it
            continue
        id_ = mounts[at + 1 + len(place.removeprefix(mount_of_work)):].split()[0].split("/")[0]
        names = next((line.split()[1:] for line in read(folder / "status").splitlines() if line.startswith("NSpid:")), [])
        yield int(folder.name), id_, len(names) > 1 and names[-1] == "1"


def inode(path):
    try:
        return os.stat(path).st_ino
    except OSError:
        return 0


# In mountinfo a bind mount names its folder from the root of its file system.
def find_mount(path):
    while not os.path.ismount(path):
        path = path.parent
    return "" if str(path) == "/" else str(path)


mount_of_work = find_mount(work)


# ---- sessions at work -------------------------------------------------------------------------------------------------------


class Worker(threading.Thread):
    """Counts in a file of its session; `low` is what was confirmed, `high` what may have been written at most."""

    def __init__(self, number):
        super().__init__(daemon=True)
        self.session, self.low, self.high, self.errors, self.successes, self.fault = f"t{number % 3}/s{number}", 0, 0, 0, 0, None
        self.may_work, self.stopped = threading.Event(), threading.Event()
        self.blob = os.urandom(300_000)

    def run(self):
        while True:
            if not self.may_work.is_set():
                self.stopped.set()
                self.may_work.wait()
                self.stopped.clear()
            try:
                self.count()
            except Failed as failure:
                self.fault = failure
                return

    def count(self):
        self.high += 1
        try:
            status, answer = ask("POST", f"/v1/sessions/{self.session}/exec?open=1", json.dumps({"argv": ["bun", "-e", COUNT]}))
        except (OSError, http.client.HTTPException):
            self.errors += 1
            time.sleep(0.02)
            return
        out, end = b"", {}
        for line in answer.splitlines():
            try:
                said = json.loads(line)
            except ValueError:
                break  # the server was killed in its midst
            if said.get("stream") == "out":
                out += base64.b64decode(said["bytes"])
            end = said.get("end", end)
        if status != 200 or end.get("kind") != "exited" or end.get("value") != 0:
            self.errors += 1
            self.last_error = answer[-400:]
            time.sleep(0.02)
            return
        counted = int(out)
        if not self.low < counted <= self.high:
            raise Failed(f"{self.session} counts {counted}, of {self.low} confirmed and {self.high} asked for")
        self.low = self.high = counted
        self.successes += 1

    def store(self):
        status, answer = ask("PUT", f"/v1/sessions/{self.session}/files?path=blob&open=1", self.blob)
        if status >= 300:
            raise Failed(f"{self.session}: {answer}")

    def check_file(self):
        status, answer = ask("GET", f"/v1/sessions/{self.session}/files?path=blob&open=1")
        if status != 200 or hashlib.sha256(answer).digest() != hashlib.sha256(self.blob).digest():
            raise Failed(f"the file of {self.session} is not what was stored: {status}, {len(answer)} bytes")


def pause(workers):
    for worker in workers:
        worker.may_work.clear()
    for worker in workers:
        while not worker.stopped.wait(1):
            if worker.fault:
                raise worker.fault


def all_go_on(workers):
    before = [worker.successes for worker in workers]
    for worker in workers:
        worker.may_work.set()

    def done():
        for worker in workers:
            if worker.fault:
                raise worker.fault
        return all(worker.successes > count for worker, count in zip(workers, before))

    until(90, "some session does not go on", done)


ever = set()  # ids of sandboxes: other guards work on this machine, too


def see_sandboxes():
    while True:
        try:
            ever.update(os.listdir(state / "sessions/workspaces"))
        except OSError:
            pass
        time.sleep(0.01)


# ---- what is left -----------------------------------------------------------------------------------------------------------


def leftovers():
    ledger = sqlite3.connect(f"file:{state}/sessions/sessions.sqlite?mode=ro", uri=True)
    try:
        sandboxes = {row[0] for row in ledger.execute("SELECT id FROM sandbox")}
        folders = sandboxes | {name for row in ledger.execute("SELECT workspace, moving_from FROM session") for name in row}
        commands = {row[0] for row in ledger.execute("SELECT id FROM command")}
    finally:
        ledger.close()
    left = [f"folder {name}" for name in os.listdir(state / "sessions/workspaces") if name not in folders]
    left += [f"log {name}" for name in os.listdir(state / "sessions/logs") if name not in commands] if (state / "sessions/logs").exists() else []
    left += [f"folder of a run {name}" for name in os.listdir(cache / "runs") if name not in sandboxes]
    left += [f"process {pid} of {id_}: {read(pathlib.Path(f'/proc/{pid}/cmdline'))[:200]!r}" for pid, id_, _ in inhabitants() if id_ not in sandboxes]
    for line in pathlib.Path("/proc/self/mountinfo").read_text().splitlines():
        target = line.split()[4]
        if target.startswith((f"{state}/", f"{cache}/")) and not any(id_ in target for id_ in sandboxes):
            left.append(f"mount {target}")
    groups = {f"guard-{id_}" for id_ in ever - sandboxes}
    left += [f"control group {at}/{name}" for at, names, _ in os.walk("/sys/fs/cgroup") for name in names if name in groups]
    if backend == "docker":
        listed = docker("ps", "--all", "--filter", "label=guard.run", "--format", '{{.Label "guard.run"}}')
        left += [f"container of {id_}" for id_ in listed.stdout.split() if id_ not in sandboxes]
        left += [f"docker says {listed.stderr}"] if listed.returncode else []
    return left


def check(workers):
    pause(workers)
    deadline, left = time.monotonic() + 20, leftovers()
    while left and time.monotonic() < deadline:  # the pool is refilled meanwhile, and what died needs a moment
        time.sleep(0.25)
        again = leftovers()
        left = [one for one in left if one in again]
    if left:
        raise Failed("left behind: " + "; ".join(left))
    ledger = sqlite3.connect(f"file:{state}/sessions/sessions.sqlite?mode=ro", uri=True)
    said = ledger.execute("PRAGMA integrity_check").fetchall()
    ledger.close()
    if said != [("ok",)]:
        raise Failed(f"the ledger: {said}")
    for worker in workers:
        worker.check_file()


# ---- rounds -------------------------------------------------------------------------------------------------------------------


def kill_init(workers):
    victim = chance.choice(workers)
    found = {}

    def find():
        ledger = sqlite3.connect(f"file:{state}/sessions/sessions.sqlite?mode=ro", uri=True)
        owned = {row[0] for row in ledger.execute("SELECT id FROM sandbox WHERE session = ? AND state = 'claimed'", (victim.session,))}
        ledger.close()
        found["pid"] = next((pid for pid, id_, first in inhabitants() if first and id_ in owned), 0)
        return found["pid"]

    until(30, f"no sandbox of {victim.session} is to be found", find)
    before = {worker: worker.errors for worker in workers}
    os.kill(found["pid"], signal.SIGKILL)
    all_go_on(workers)
    for worker in workers:
        lost = worker.errors - before[worker]
        if lost > (3 if worker is victim else 0):
            raise Failed(f"the death of an init of {victim.session} cost {worker.session} {lost} commands: {worker.last_error}")


def one_round(victim, server, engine, workers):
    all_go_on(workers)
    time.sleep(chance.random())
    if victim == "init":
        kill_init(workers)
    elif victim == "serve":
        server.kill()
        time.sleep(chance.choice((0, 0, chance.random())))
        server.start()
    else:
        engine.kill(with_containerd=chance.random() < 0.5)
        time.sleep(chance.random())
        engine.start()
    all_go_on(workers)
    check(workers)


def main():
    engine, server, workers = Engine(), Server(), [Worker(number) for number in range(6)]
    schedule = ["serve"] * rounds + ["init"] * (rounds // 4) + (["engine"] * (rounds * 3 // 20) if backend == "docker" else [])
    chance.shuffle(schedule)
    counts, number, victim, failed = {}, 0, "nobody", True
    print(f"session_chaos: {len(schedule)} rounds on {backend}, seed {seed}", flush=True)
    try:
        if backend == "docker":
            engine.start()
        threading.Thread(target=see_sandboxes, daemon=True).start()
        server.start()
        for worker in workers:
            worker.store()
            worker.start()
        for number, victim in enumerate(schedule, 1):
            one_round(victim, server, engine, workers)
            counts[victim] = counts.get(victim, 0) + 1
            if number % 20 == 0:
                print(f"session_chaos: {number} rounds", flush=True)
        server.process.terminate()
        if server.process.wait(60) != 0:
            raise Failed(f"guard serve ended with {server.process.returncode}")
        if alive := list(inhabitants()):
            raise Failed(f"processes after the end: {alive}")
        failed = False
        print(f"session_chaos: nothing lost and nothing left; killed: {counts}; commands: {sum(worker.successes for worker in workers)}, "
              f"cut off: {sum(worker.errors for worker in workers)}; containers that the engine forgot before they began: {len(unborn)}")
    except Failed as failure:
        print(f"session_chaos: round {number} ({victim}): {failure}\n  kept: {work}", file=sys.stderr)
    finally:
        if server.process is not None and server.process.poll() is None:
            server.kill()
        engine.stop()
        for pid in unborn:
            if "runc" in read(pathlib.Path(f"/proc/{pid}/comm")):
                os.kill(pid, signal.SIGKILL)
        if not failed:
            shutil.rmtree(work, ignore_errors=True)
    return 1 if failed else 0


sys.exit(main())
