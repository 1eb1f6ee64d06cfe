import { expect, test } from "bun:test";

const IGNORED = [/(^|\/)\.env(\..+)?$/, /\.pem$/, /(^|\/)id_(rsa|ed25519)$/, /node_modules\//];
const isIgnored = (p: string) => IGNORED.some((re) => re.test(p));

test.each([".env", ".env.local", "keys/server.pem", "home/.ssh/id_rsa"])("%s is ignored", (p) => {
  expect(isIgnored(p)).toBe(true);
});
test.each(["src/env.ts", "pem.ts", "readme.md"])("%s is kept", (p) => {
  expect(isIgnored(p)).toBe(false);
});
