// Inline snapshots of values, errors and things with properties.
import { expect, test } from "bun:test";
test("values", () => {
  expect({ b: 1, a: [1, "x"] }).toMatchInlineSnapshot(`
    {
      "a": [
        1,
        "x",
      ],
      "b": 1,
    }
  `);
  expect("text").toMatchInlineSnapshot(`"text"`);
});
test("properties", () => {
  expect({ id: 5, name: "it" }).toMatchInlineSnapshot({ id: expect.any(Number) }, `
    {
      "id": Any<Number>,
      "name": "it",
    }
  `);
});
