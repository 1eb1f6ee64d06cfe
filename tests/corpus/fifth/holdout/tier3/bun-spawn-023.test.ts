import { expect, test } from "bun:test";

const { spawn: start, which } = Bun;
const base = { stdout: "pipe", env: { LC_ALL: "C" } } as const;

test("date prints a year", async () => {
  const p = start({ ...base, cmd: [which("date")!, "+%Y"] });
  expect(Number(await p.stdout.text())).toBeGreaterThan(2020);
});
