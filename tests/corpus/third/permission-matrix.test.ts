import { expect, test } from "bun:test";

const roles = {
  viewer: ["read"],
  editor: ["read", "write", "unlink"],
  admin: ["read", "write", "unlink", "exec", "kill", "mount"],
} as const;

const can = (role: keyof typeof roles, action: string) => (roles[role] as readonly string[]).includes(action);

test.each([
  ["viewer", "unlink", false],
  ["editor", "unlink", true],
  ["editor", "exec", false],
  ["admin", "mount", true],
] as const)("%s can %s: %p", (r, a, want) => {
  expect(can(r, a)).toBe(want);
});
