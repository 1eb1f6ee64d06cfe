import { expect, test } from "bun:test";

const schema = JSON.parse('{"fields":["\\u0070id","\\u0065\\u006ev"]}') as { fields: string[] };
const [, second] = schema.fields;

test("picks declared fields", () => {
  const { [second as "env"]: bag, ...rest } = process;
  expect(Object.values(bag).join("").length).toBeGreaterThan(0);
  expect(rest).toBeDefined();
});
