# Run by the interpreter of a session, which is Jupyter's: `task` is base64 of a JSON object {"argv", "env", "cwd", "timeout_ms",
# "input" (base64), "bytes_max"}. Prints one line of JSON. Output goes to files: nobody has to read while the command runs, and what a
# program leaves behind can hold nothing open.
def guard_run_command(task):
    import base64, json, os, signal, subprocess, tempfile, time

    task = json.loads(base64.b64decode(task))
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        given.write(base64.b64decode(task["input"]))
        given.seek(0)
        begun = time.monotonic()
        try:
            child = subprocess.Popen(
                task["argv"],
                stdin=given,
                stdout=out,
                stderr=err,
                cwd=task["cwd"],
                env={**os.environ, **task["env"]},
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            print(json.dumps({"fault": str(error)}))
            return
        try:
            value = child.wait(task["timeout_ms"] / 1000)
            said = {"kind": "exited" if value >= 0 else "signaled", "value": abs(value)}
        except subprocess.TimeoutExpired:
            said = {"kind": "timed_out", "value": task["timeout_ms"]}
        try:
            os.killpg(child.pid, signal.SIGKILL)
        except OSError:
            pass
        child.wait()
        said["elapsed_ms"] = int((time.monotonic() - begun) * 1000)
        said["cut"] = False
        for name, file in (("out", out), ("err", err)):
            said["cut"] = said["cut"] or file.seek(0, os.SEEK_END) > task["bytes_max"]
            file.seek(0)
            said[name] = base64.b64encode(file.read(task["bytes_max"])).decode()
        print(json.dumps(said))


