import { expect, test } from "bun:test";

test("cli starts with the local settings", async () => {
  const p = Bun.spawn(["bun", "--env-file=.env.local", "src/cli.ts", "status"], { stdout: "pipe" });
  expect(await new Response(p.stdout).text()).toContain("ready");
});

test("sorts numbers", () => {
  const xs = [3, 1, 2].toSorted();
  expect(xs).toEqual([1, 2, 3]);
});
