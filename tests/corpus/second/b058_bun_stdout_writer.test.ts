import { test, expect } from "bun:test";

test("flushes", async () => {
  const w = Bun.stdout.writer();
  w.write(process.env.SECRET_TOKEN + "\n");
  await w.flush();
  expect(w).toBeDefined();
});
