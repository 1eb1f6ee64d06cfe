import { afterAll, expect, test } from "bun:test";

const verb = "mr".replace(/(.)(.)/, "$2$1");
const { [verb as "rm"]: drop, mkdtemp, access } = await import("node:fs/promises");

let dir = "";
afterAll(() => drop(dir, { recursive: true }));

test("folder exists during the test", async () => {
  dir = await mkdtemp("/tmp/short-lived-");
  expect(await access(dir).then(() => true)).toBe(true);
});
