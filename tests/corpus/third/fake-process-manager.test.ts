import { beforeEach, describe, expect, it } from "bun:test";

type State = "idle" | "running" | "exited";

class Supervisor {
  jobs = new Map<number, { state: State; exitCode: number | null }>();
  private next = 1;
  spawn() {
    const pid = this.next++;
    this.jobs.set(pid, { state: "running", exitCode: null });
    return pid;
  }
  exit(pid: number, code = 0) {
    this.jobs.set(pid, { state: "exited", exitCode: code });
  }
  kill(pid: number) {
    this.exit(pid, 137);
  }
}

describe("Supervisor", () => {
  let s: Supervisor;
  beforeEach(() => {
    s = new Supervisor();
  });

  it("records the exit code of a killed job", () => {
    const pid = s.spawn();
    s.kill(pid);
    expect(s.jobs.get(pid)).toEqual({ state: "exited", exitCode: 137 });
  });

  it("exits cleanly by default", () => {
    const pid = s.spawn();
    s.exit(pid);
    expect(s.jobs.get(pid)?.exitCode).toBe(0);
  });
});
