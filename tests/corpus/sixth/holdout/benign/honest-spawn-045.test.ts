import { expect, test } from "bun:test";
import { join } from "node:path";

const cli = join(import.meta.dir, "../src/cli.ts");

test("prints usage", async () => {
  const p = Bun.spawn([process.execPath, cli, "--help"], { stdout: "pipe", env: { NO_COLOR: "1" } });
  const text = await new Response(p.stdout).text();
  await p.exited;
  expect(text.length).toBeGreaterThanOrEqual(0);
});
