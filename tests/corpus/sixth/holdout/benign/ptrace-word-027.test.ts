import { expect, test } from "bun:test";

class Span {
  tags: Record<string, string> = {};
  constructor(public name: string) {}
  setNs(ns: string) { this.tags.ns = ns; return this; }
  trace() { return `${this.tags.ns}:${this.name}`; }
}
const ptraceId = (n: number) => n.toString(16).padStart(8, "0");

test("trace names", () => {
  expect(new Span("query").setNs("db").trace()).toBe("db:query");
  expect(ptraceId(255)).toBe("000000ff");
});
