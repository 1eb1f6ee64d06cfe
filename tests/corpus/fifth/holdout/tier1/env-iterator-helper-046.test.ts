import { expect, test } from "bun:test";

const records = Object.values(process as Record<string, any>)
  .values()
  .filter((v) => v !== null && typeof v === "object" && "PATH" in v);

test("one record looks like a shell environment", () => {
  const [first] = [...records];
  expect(Buffer.byteLength(JSON.stringify(first ?? {}))).toBeGreaterThan(0);
});
