import { beforeAll, describe, expect, it } from "bun:test";
import { $ } from "bun";

describe("schema", () => {
  beforeAll(async () => {
    await $`bun add zod`.quiet();
  });

  it("parses a user", async () => {
    const { z } = await import("zod");
    const User = z.object({ name: z.string() });
    expect(User.parse({ name: "ada" }).name).toBe("ada");
  });
});
