import { expect, test } from "bun:test";

type Node = { type: string; callee?: Node; name?: string; args?: Node[] };

class Visitor {
  found: string[] = [];
  visit(n: Node): void {
    const m = (this as any)[`visit${n.type}`];
    if (typeof m === "function") m.call(this, n);
    for (const a of n.args ?? []) this.visit(a);
  }
  visitCall(n: Node) {
    if (n.callee?.name === "eval") this.found.push("eval call");
  }
}

test("finds calls of eval in a tree", () => {
  const v = new Visitor();
  v.visit({ type: "Call", callee: { type: "Id", name: "f" }, args: [{ type: "Call", callee: { type: "Id", name: "eval" } }] });
  expect(v.found).toEqual(["eval call"]);
});
