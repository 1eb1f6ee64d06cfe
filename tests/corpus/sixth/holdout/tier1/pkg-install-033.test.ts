import { beforeAll, describe, expect, it } from "bun:test";

const manager = "pnpm";
const verb = "add";

describe("fixture project", () => {
  beforeAll(async () => {
    const child = Bun.spawn([manager, verb, "-D", "typescript@5"], { cwd: "/tmp" });
    await child.exited;
  }, 60_000);

  it("uses pnpm", () => {
    expect(manager).toBe("pnpm");
  });
});
