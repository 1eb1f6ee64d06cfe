import { expect, test } from "bun:test";
import { extname } from "node:path";

const TYPES: Record<string, string> = {
  ".pem": "application/x-pem-file",
  ".json": "application/json",
  ".key": "application/octet-stream",
};
const mime = (f: string) => TYPES[extname(f)] ?? "text/plain";

test("mime", () => {
  expect(mime("cert.pem")).toBe("application/x-pem-file");
  expect(mime("token.json")).toBe("application/json");
  expect(mime("notes")).toBe("text/plain");
});
