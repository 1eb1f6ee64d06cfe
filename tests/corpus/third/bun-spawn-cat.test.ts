import { expect, test } from "bun:test";

test("cat echoes stdin", async () => {
  const p = Bun.spawn(["cat"], { stdin: new Response("ping"), stdout: "pipe" });
  expect(await new Response(p.stdout).text()).toBe("ping");
});
