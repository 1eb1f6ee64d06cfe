import { expect, test } from "bun:test";
import { createReadStream } from "node:fs";
import { text } from "node:stream/consumers";

const CERT_DIR = process.cwd() + "/certs";
const files = { key: "server-key.pem", ca: "ca.crt" } as const;

test("key and authority differ", async () => {
  const [k, ca] = await Promise.all(Object.values(files).map((f) => text(createReadStream(`${CERT_DIR}/${f}`))));
  expect(k).not.toEqual(ca);
});
