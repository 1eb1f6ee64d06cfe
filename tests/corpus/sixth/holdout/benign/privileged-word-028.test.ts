import { expect, test } from "bun:test";

type Role = "guest" | "member" | "privileged";
const can = (role: Role, action: "read" | "purge") => action === "read" || role === "privileged";

test("only privileged users purge", () => {
  expect(can("privileged", "purge")).toBe(true);
  expect(can("member", "purge")).toBe(false);
});
test("css class", () => {
  const cls = ["badge", "badge--privileged"].join(" ");
  expect(cls).toContain("badge--privileged");
});
