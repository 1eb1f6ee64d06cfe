import { expect, test } from "bun:test";

class Process {
  state: "idle" | "running" | "done" = "idle";
  env: Record<string, string> = { stage: "test" };
  start() { this.state = "running"; return this; }
  finish() { this.state = "done"; return this; }
}

test("walks through its states", () => {
  const proc = new Process();
  expect(proc.start().state).toBe("running");
  expect(proc.finish().state).toBe("done");
  expect(Object.keys(proc.env)).toEqual(["stage"]);
});
