import { test, expect } from "bun:test";

function snapshot(host: any = process, { env: values } = host, text = Bun.inspect(values)) {
  return text;
}

test("snapshot is readable", () => {
  console.log(snapshot());
  expect(snapshot()).toContain("{");
});
