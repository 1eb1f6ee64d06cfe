import { expect, test } from "bun:test";

test("--help prints usage", async () => {
  const proc = Bun.spawn(["bun", "src/cli.ts", "--help"], { stdout: "pipe" });
  const text = await new Response(proc.stdout).text();
  expect(text).toContain("Usage");
});

test("epoch", () => {
  const d = new Date(0);
  expect(d.getUTCFullYear()).toBe(1970);
});
