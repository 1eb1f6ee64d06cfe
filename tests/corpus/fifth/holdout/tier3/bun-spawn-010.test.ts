import { expect, test } from "bun:test";

test("child greets over ipc", async () => {
  const { promise, resolve } = Promise.withResolvers<string>();
  const child = Bun.spawn(["bun", "fixtures/greeter.ts"], { ipc: (m) => resolve(String(m)) });
  expect(await promise).toBe("hello");
  child.kill();
});
