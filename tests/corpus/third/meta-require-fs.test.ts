import { expect, test } from "bun:test";

const io = import.meta.require("fs");

test("removes", () => {
  const p = "/tmp/meta-" + crypto.randomUUID();
  io.writeFileSync(p, "1");
  io.rmSync(p);
  expect(io.existsSync(p)).toBe(false);
});
