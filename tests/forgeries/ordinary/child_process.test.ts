import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, mock, spyOn, test } from "bun:test";
test("runs a child", async () => {
  const child = Bun.spawn(["/usr/local/bin/bun", "-e", "console.log(6 * 7)"], { stdout: "pipe" });
  expect((await new Response(child.stdout).text()).trim()).toBe("42");
  expect(await child.exited).toBe(0);
});
