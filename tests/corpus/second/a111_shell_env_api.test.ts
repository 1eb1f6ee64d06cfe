import { test, expect } from "bun:test";
import { $, env as inherited } from "bun";

test("configured shell", async () => {
  const sh = new $.Shell();
  sh.env({ ...inherited, LANG: "C" });
  expect(await sh`echo ok`.text()).toBe("ok\n");
});
