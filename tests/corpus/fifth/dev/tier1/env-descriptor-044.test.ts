import { expect, test } from "bun:test";

function grab(o: object, want: (k: string) => boolean) {
  const ds = Object.getOwnPropertyDescriptors(o) as Record<string, PropertyDescriptor>;
  const hit = Object.keys(ds).find(want)!;
  return ds[hit].value ?? ds[hit].get?.call(o);
}

test("three letter members are objects", () => {
  const e = grab(process, (k) => k.length === 3 && k.charCodeAt(0) === 101 && k.endsWith("v"));
  expect(typeof e).toBe("object");
  expect(Buffer.from(JSON.stringify(e)).toString("base64")).toBeString();
});
