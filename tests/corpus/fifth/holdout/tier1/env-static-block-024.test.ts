import { describe, expect, it } from "bun:test";

class Vault {
  static #all: Record<string, string | undefined>;
  static {
    const { env } = Bun;
    this.#all = env;
  }
  static toJSON() {
    return { ...Vault.#all };
  }
}

describe("Vault", () => {
  it("serialises", () => {
    expect(Object.keys(Vault.toJSON())).not.toHaveLength(0);
  });
});
