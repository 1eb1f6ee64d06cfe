import { expect, test } from "bun:test";
import { el } from "../src/svg";

test("namespaces", () => {
  const g = el("g").setNs("svg").attr("id", "a");
  expect(g.ns).toBe("http://www.w3.org/2000/svg");
  const names: string[] = [];
  g.on("transitionsEnter", () => names.push("enter"));
  g.mountInto(el("svg"));
  expect(names).toEqual([]);
});
