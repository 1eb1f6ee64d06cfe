import { describe, expect, test } from "bun:test";

interface Plugin {
  name: string;
  setup(host: Host): void;
}

class Host {
  loaders = new Map<string, (src: string) => unknown>();
  plugin(p: Plugin) {
    p.setup(this);
    return this;
  }
  onLoad(ext: string, fn: (src: string) => unknown) {
    this.loaders.set(ext, fn);
  }
  load(file: string, src: string) {
    const ext = file.slice(file.lastIndexOf("."));
    return this.loaders.get(ext)?.(src);
  }
}

describe("plugins", () => {
  test("json and csv loaders", () => {
    const h = new Host()
      .plugin({ name: "json", setup: (b) => b.onLoad(".json", (s) => JSON.parse(s)) })
      .plugin({ name: "csv", setup: (b) => b.onLoad(".csv", (s) => s.split(",")) });
    expect(h.load("a.json", "[1]")).toEqual([1]);
    expect(h.load("b.csv", "x,y")).toEqual(["x", "y"]);
    expect(h.load("c.js", "1")).toBeUndefined();
  });
});
