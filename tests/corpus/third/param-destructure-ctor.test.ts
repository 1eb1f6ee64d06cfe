import { expect, test } from "bun:test";

function compile({ constructor: Make }: any, body: string) {
  return Make(body);
}

test("compile", () => {
  expect(compile(compile, "return 'ok'")()).toBe("ok");
});
