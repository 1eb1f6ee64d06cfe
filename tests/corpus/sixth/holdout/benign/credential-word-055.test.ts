import { expect, mock, test } from "bun:test";

const nav = { credentials: { get: mock(async () => ({ id: "cred-1", type: "public-key" })) } };

async function signIn(n: typeof nav) {
  const credential = await n.credentials.get();
  return { credentialId: credential.id };
}

test("sign-in asks for a credential", async () => {
  expect(await signIn(nav)).toEqual({ credentialId: "cred-1" });
  expect(nav.credentials.get).toHaveBeenCalledTimes(1);
});
