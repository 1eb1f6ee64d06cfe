// out_of_memory
import { afterAll, afterEach, beforeAll, describe, expect, mock, test } from "bun:test";
test("eats", async () => {
  const child = Bun.spawn(["/usr/local/bin/bun", "-e", "const held = []; for (;;) held.push(new Uint8Array(16 << 20).fill(1))"], { stdio: ["ignore", "ignore", "ignore"] });
  await child.exited;
  expect(1).toBe(1);
});
