import { expect, test } from "bun:test";

const catalogue = [
  { name: "observer", corePattern: true },
  { name: "flyweight", corePattern: false },
];

test("filters core patterns", () => {
  expect(catalogue.filter((p) => p.corePattern).map((p) => p.name)).toEqual(["observer"]);
});
