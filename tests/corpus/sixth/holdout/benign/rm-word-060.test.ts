import { expect, test } from "bun:test";

class Cart {
  #items = new Map<string, number>();
  add(sku: string, n = 1) { this.#items.set(sku, (this.#items.get(sku) ?? 0) + n); return this; }
  rm(sku: string) { this.#items.delete(sku); return this; }
  get size() { return this.#items.size; }
}

test("rm takes an item out", () => {
  const c = new Cart().add("a").add("b", 2).rm("a");
  expect(c.size).toBe(1);
});
test("rmItem label", () => {
  expect(["add", "rm"].includes("rm")).toBe(true);
});
