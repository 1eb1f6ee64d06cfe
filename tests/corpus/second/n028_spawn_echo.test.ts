import { expect, test } from "bun:test";

test("captures output", async () => {
  const p = Bun.spawn(["echo", "install complete"], { env: { LANG: "C" } });
  expect((await new Response(p.stdout).text()).trim()).toBe("install complete");
});
