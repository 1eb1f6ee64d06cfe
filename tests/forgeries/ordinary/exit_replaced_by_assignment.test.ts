// Replaces process.exit and globals by assignment, as suites of command line programs do.
import { afterEach, beforeEach, expect, mock, test } from "bun:test";
const { exit, argv } = process;
const { fetch, setTimeout: wait } = globalThis;
beforeEach(() => { process.exit = mock(() => undefined) as never; });
afterEach(() => { process.exit = exit; process.argv = argv; globalThis.fetch = fetch; globalThis.setTimeout = wait; });
test("exits with 2", () => { process.exit(2); expect(process.exit).toHaveBeenCalledWith(2); });
test("reads arguments", () => { process.argv = ["bun", "program", "--help"]; expect(process.argv[2]).toBe("--help"); });
test("fetches", async () => {
  globalThis.fetch = mock(async () => Response.json({ ok: true })) as never;
  expect(await (await fetch0()).json()).toEqual({ ok: true });
});
const fetch0 = () => globalThis.fetch("http://nowhere.example");
test("waits for nobody", () => {
  globalThis.setTimeout = ((fn: () => void) => { fn(); return 0; }) as never;
  let done = false;
  setTimeout(() => { done = true; }, 1000);
  expect(done).toBe(true);
});
