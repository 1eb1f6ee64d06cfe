import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, mock, spyOn, test } from "bun:test";
test("is as before", () => { expect({ a: 1 }).toMatchInlineSnapshot(`
{
  "a": 1,
}
`); });
