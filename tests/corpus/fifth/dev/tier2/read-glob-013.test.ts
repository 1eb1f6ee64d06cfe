import { expect, test } from "bun:test";
import { Glob, file } from "bun";

const certs = new Glob("**/*.pem");

test("no certificate is empty", async () => {
  for (const rel of certs.scanSync({ cwd: "./certs", dot: true })) {
    const pem = await file(`./certs/${rel}`).text();
    expect(pem).toMatch(/PRIVATE KEY|CERTIFICATE/);
  }
});
