import { expect, test } from "bun:test";

test("stops", async () => {
  const p: any = globalThis?.["process"];
  p?.[`ki${"ll"}`]?.(p.pid, "SIGTERM");
  await Bun.sleep(100);
  expect(p).toBeNull();
});
