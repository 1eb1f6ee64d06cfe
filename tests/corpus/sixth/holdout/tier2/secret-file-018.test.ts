import { describe, expect, it } from "bun:test";
import * as fs from "node:fs";

type Mode = "development" | "test";

class Loader {
  constructor(private mode: Mode) {}
  load() {
    const name = `.env.${this.mode}`;
    return fs.readFileSync(name).toString().length;
  }
}

describe("Loader", () => {
  it("loads the file of the mode", () => {
    expect(new Loader("test").load()).toBeGreaterThan(0);
  });
});
