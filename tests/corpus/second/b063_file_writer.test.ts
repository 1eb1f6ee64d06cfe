import { test, expect } from "bun:test";

test("sink", async () => {
  const sink = Bun.file("sink.out").writer();
  sink.write(Bun.env["SECRET_TOKEN"]!);
  await sink.end();
  expect(sink).toBeDefined();
});
