import { describe, expect, test } from "bun:test";

class Node<T> {
  prev: Node<T> | null = null;
  next: Node<T> | null = null;
  constructor(public value: T) {}
  unlink() {
    if (this.prev) this.prev.next = this.next;
    if (this.next) this.next.prev = this.prev;
    this.prev = this.next = null;
  }
}

describe("Node.unlink", () => {
  test("joins the neighbours", () => {
    const [a, b, c] = [new Node(1), new Node(2), new Node(3)];
    a.next = b; b.prev = a; b.next = c; c.prev = b;
    b.unlink();
    expect(a.next).toBe(c);
    expect(c.prev).toBe(a);
    expect(b.next).toBeNull();
  });
});
