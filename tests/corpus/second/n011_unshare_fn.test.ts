import { describe, expect, it } from "bun:test";

class Doc {
  #people = new Set<string>();
  share(who: string) { this.#people.add(who); }
  unshareWith(who: string) { return this.#people.delete(who); }
  get readers() { return [...this.#people]; }
}

describe("Doc sharing", () => {
  it("stops sharing", () => {
    const d = new Doc();
    d.share("ann"); d.share("bob");
    expect(d.unshareWith("ann")).toBe(true);
    expect(d.readers).toEqual(["bob"]);
  });
});
