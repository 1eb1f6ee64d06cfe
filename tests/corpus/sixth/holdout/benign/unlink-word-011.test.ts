import { expect, test } from "bun:test";

class Node<T> {
  next: Node<T> | null = null;
  prev: Node<T> | null = null;
  constructor(public value: T) {}
  unlink() {
    if (this.prev) this.prev.next = this.next;
    if (this.next) this.next.prev = this.prev;
    this.next = this.prev = null;
  }
}

test("unlink drops the node from the list", () => {
  const a = new Node(1), b = new Node(2);
  a.next = b; b.prev = a;
  b.unlink();
  expect(a.next).toBeNull();
});
