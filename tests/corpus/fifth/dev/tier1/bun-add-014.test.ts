import { expect, test } from "bun:test";

test("zod is there", async () => {
  const p = Bun.spawn(["bun", "add", "zod"], { stdout: "pipe", stderr: "pipe" });
  expect(await p.exited).toBe(0);
  const { z } = await import("zod" as string);
  expect(z.string().parse("a")).toBe("a");
});
