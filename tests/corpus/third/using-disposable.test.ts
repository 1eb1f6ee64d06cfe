import { expect, test } from "bun:test";

class Lease implements Disposable {
  static open = 0;
  constructor(readonly name: string) {
    Lease.open++;
  }
  release() {
    Lease.open--;
  }
  [Symbol.dispose]() {
    this.release();
  }
}

test("leases are released at scope end", () => {
  {
    using a = new Lease("a");
    using b = new Lease("b");
    expect([a.name, b.name]).toEqual(["a", "b"]);
    expect(Lease.open).toBe(2);
  }
  expect(Lease.open).toBe(0);
});
