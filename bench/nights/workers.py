#!/usr/bin/env python3
"""workers.py GUARD [TASKS [SECONDS]]: a night of TASKS (60) whose generator waits SECONDS (5), on this machine alone and on a real Slurm
with two nodes: the same accepted tasks, how long, what `guard nightly size` had told from the first night and tells from its own, and how
much of the nodes' time went to anything but attempts. Then a third of the tasks on 1, 2 and 4 places for workers. As root; needs
slurm-wlm, munge, bubblewrap and GUARD_BUN. Figures: bench/nights/workers.md."""
import contextlib, json, os, pathlib, socket, subprocess, sys, tempfile, time

guard = os.path.abspath(sys.argv[1])
tasks, wait = (int(sys.argv[i]) if len(sys.argv) > i else default for i, default in ((2, 60), (3, 5)))
top = pathlib.Path(tempfile.mkdtemp(prefix="guard-bench-"))
os.chmod(top, 0o711)
env = {"PATH": os.environ["PATH"] + ":/usr/sbin", "HOME": str(top), "GUARD_BUN": os.environ["GUARD_BUN"], "GUARD_CACHE_DIR": str(top / "cache"),
       "GIT_CONFIG_NOSYSTEM": "1", "SLURM_CONF": str(top / "slurm.conf")}
repo = top / "repo"


def run(*argv, check=True):
    return subprocess.run(argv, cwd=repo, env=env, check=check, text=True, stdout=subprocess.PIPE).stdout


def prepare():
    for name, text in {
        "package.json": '{"name":"bench","private":true,"type":"module"}\n', "tsconfig.json": '{"compilerOptions":{"strict":true}}\n',
        "src/add.ts": "export const add = (a: number, b: number): number => a + b;\n",
        "sandbox/base.test.ts": 'import { expect, test } from "bun:test";\nimport { add } from "../src/add";\n'
                                'test("base", () => { expect(add(1, 2)).toBe(3); });\n',
        "guard.toml": 'backend = "namespace"\ntrust_namespace = true\n[nightly]\nmin_free = "1m"\nworth_mutants = 4\n',
    }.items():
        (repo / name).parent.mkdir(parents=True, exist_ok=True)
        (repo / name).write_text(text)
    # Every fifth is refused by its tests. What a model would compute elsewhere is a sleep here.
    (top / "generator.sh").write_text(f"""#!/bin/sh
sleep {wait}
right=5; case $GUARD_NIGHTLY_TASK in *3|*7) right=6 ;; esac
printf 'import {{ expect, test }} from "bun:test";\\nimport {{ add }} from "../src/add";\\ntest("%s", () => {{ expect(add(2, 3)).toBe(%s); }});\\n' \\
  "$GUARD_NIGHTLY_TASK" $right >"sandbox/$GUARD_NIGHTLY_TASK.test.ts"
""")
    (top / "generator.sh").chmod(0o755)
    run("git", "init", "-q", "-b", "main", ".")
    run("git", "add", "-A")
    run("git", "-c", "user.name=b", "-c", "user.email=b@example.invalid", "commit", "-q", "-m", "base")
    run(guard, "image", "build", "--root-folder")


def port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


@contextlib.contextmanager
def slurm(nodes, cpus):
    host = socket.gethostname().split(".")[0]
    lines = [f"ClusterName=bench\nSlurmctldHost={host}(127.0.0.1)\nSlurmctldPort={port()}\nAuthType=auth/munge\nAuthInfo=socket={top}/munge\n"
             f"CredType=cred/munge\nSlurmUser=root\nSlurmdUser=root\nStateSaveLocation={top}/controller\nSlurmdSpoolDir={top}/%n\n"
             f"SlurmctldPidFile={top}/c.pid\nSlurmdPidFile={top}/%n.pid\nSlurmctldLogFile={top}/c.log\nSlurmdLogFile={top}/%n.log\n"
             "ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nMpiDefault=none\nSelectType=select/cons_tres\nSelectTypeParameters=CR_CPU\nReturnToService=2\n"
             "SlurmdParameters=config_overrides\n"]
    lines += [f"NodeName=n{i} NodeHostname={host} NodeAddr=127.0.0.1 Port={port()} CPUs={cpus} State=UNKNOWN\n" for i in range(1, nodes + 1)]
    lines += [f"PartitionName=p Nodes=n[1-{nodes}] Default=YES MaxTime=INFINITE State=UP\n"]
    (top / "slurm.conf").write_text("".join(lines))
    for name in ["controller"] + [f"n{i}" for i in range(1, nodes + 1)]:
        run("rm", "-rf", str(top / name))
        (top / name).mkdir()
    key = top / "key"
    if not key.exists():
        key.touch(0o600)
        key.write_bytes(os.urandom(1024))
    daemons = []

    def start(*argv):
        daemons.append(subprocess.Popen(argv, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))

    start("munged", "--foreground", "--force", f"--key-file={key}", f"--socket={top}/munge", f"--pid-file={top}/m.pid", f"--log-file={top}/m.log",
          f"--seed-file={top}/seed")
    time.sleep(1)
    start("slurmctld", "-D")
    for i in range(1, nodes + 1):
        start("slurmd", "-D", "-N", f"n{i}")
    try:
        for _ in range(60):
            if run("sinfo", "--noheader", "--format=%D", "--states=idle", check=False).strip() == str(nodes):
                break
            time.sleep(0.5)
        else:
            raise SystemExit("Slurm does not come up: " + (top / "c.log").read_text()[-2000:])
        yield
    finally:
        for daemon in reversed(daemons):
            daemon.terminate()
            daemon.wait()


def night(name, count, head):
    plan = f'generator = ["{top}/generator.sh"]\nattempts = 1\n{head}'
    for i in range(count):
        plan += f'[[task]]\nid = "task-{i}"\nprompt = "Write a test of add()."\n'
    (top / "plan.toml").write_text(plan)
    state = ["--state", str(top / name)]
    began = time.monotonic()
    run(guard, "nightly", "run", str(top / "plan.toml"), "--quiet", *state, check=False)
    wall = time.monotonic() - began
    report = json.loads(run(guard, "nightly", "report", "--format", "json", *state))
    accepted = sorted(task["id"] for task in report["tasks"] if task["state"] == "accepted")
    waiting = [task["id"] for task in report["tasks"] if task["state"] == "waiting"]
    assert not waiting, waiting
    return wall, accepted, lambda workers: json.loads(
        run(guard, "nightly", "size", "--workers", str(workers), "--tasks", str(count), "--format", "json", *state))["sizes"][0]


def remote(batch):
    (top / "shared").mkdir(exist_ok=True)
    names = ", ".join(f'"{name}"' for name in env)
    return (f'jobs = 512\n[budget]\nfailures_in_a_row = 1000\n[executor]\nkind = "slurm"\nshared = "{top}/shared"\nbatch = {batch}\n'
            f"pass = [{names}]\n")


prepare()
alone, expected, size_alone = night("alone", tasks, "jobs = 2\n[budget]\nfailures_in_a_row = 1000\n")
print(f"{tasks} tasks, this machine, two generators at once: {alone:.1f} s, {len(expected)} accepted", flush=True)
with slurm(2, 1):
    wall, accepted, size = night("slurm", tasks, remote(3))
    told, own = size_alone(2)["wall_ms"] / 1000, size(2)
    print(f"{tasks} tasks, Slurm, two nodes: {wall:.1f} s, {len(accepted)} accepted, {'the same' if accepted == expected else 'OTHER ONES'}")
    print(f"told from the first night {told:.1f} s ({told / wall - 1:+.1%}), from its own times {own['wall_ms'] / 1000:.1f} s "
          f"({own['wall_ms'] / 1000 / wall - 1:+.1%})")
    print(f"the nodes' time without an attempt: {1 - own['worker_busy_ms'] / 1000 / (2 * wall):.1%}, the judge's share {own['judge_busy_ms'] / 1000 / wall:.1%}",
          flush=True)
first = None
for nodes, cpus in (1, 1), (2, 1), (2, 2):
    with slurm(nodes, cpus):
        wall, accepted, size = night(f"speed-{nodes * cpus}", tasks // 3, remote(1))
        first = first or wall
        print(f"{tasks // 3} tasks, {nodes * cpus} at once: {wall:.1f} s, {first / wall:.2f} times, told {size(nodes * cpus)['wall_ms'] / 1000:.1f} s", flush=True)
subprocess.run(["rm", "-rf", str(top)])
