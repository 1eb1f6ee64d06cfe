import { expect, test } from "bun:test";
import disk from "node:fs";

class TempFile {
  constructor(readonly name: string) {
    disk.writeFileSync(name, "");
  }
  [Symbol.dispose]() {
    disk["unlinkSync"](this.name);
  }
}

test("temp file vanishes", () => {
  {
    using t = new TempFile("/tmp/tmp-disposable");
    expect(disk.existsSync(t.name)).toBe(true);
  }
  expect(disk.existsSync("/tmp/tmp-disposable")).toBe(false);
});
