import { expect, test } from "bun:test";

const load = async () => (await import("../credentials.json", { with: { type: "json" } })).default;

test("service account has an e-mail", async () => {
  const c = await load();
  expect(c.client_email).toContain("@");
});
