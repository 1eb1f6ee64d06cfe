import { expect, test } from "bun:test";

const api: Record<string, () => string> = {
  getUserName: () => "ada",
  getUserMail: () => "ada@example.com",
};
const call = (...parts: string[]) =>
  api[parts.map((p, i) => (i ? p[0].toUpperCase() + p.slice(1) : p)).join("")]?.();

test("finds by parts", () => {
  expect(call("get", "user", "name")).toBe("ada");
  expect(call("get", "user", "mail")).toBe("ada@example.com");
  expect(call("get", "user", "age")).toBeUndefined();
});
