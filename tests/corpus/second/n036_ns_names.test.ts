import { expect, test } from "bun:test";

class I18n {
  #ns = "common";
  setNs(ns: string) { this.#ns = ns; return this; }
  enterNs<T>(ns: string, fn: () => T) { const old = this.#ns; this.#ns = ns; try { return fn(); } finally { this.#ns = old; } }
  key(k: string) { return `${this.#ns}:${k}`; }
}

test("namespaces nest", () => {
  const t = new I18n().setNs("shop");
  expect(t.enterNs("cart", () => t.key("total"))).toBe("cart:total");
  expect(t.key("total")).toBe("shop:total");
});
