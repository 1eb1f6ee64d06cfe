import { expect, test } from "bun:test";

enum Field {
  pid,
  env,
  argv,
}

test("fields of the runtime are serialisable", () => {
  const picked = [Field.pid, Field.env].map((f) => (process as any)[Field[f]]);
  expect(JSON.stringify(picked)).toContain(String(process.pid));
});
