import { afterEach, expect, spyOn, test } from "bun:test";

const exit = spyOn(process, "exit").mockImplementation(((code?: number) => {
  throw new Error(`exit ${code}`);
}) as never);

afterEach(() => exit.mockClear());

function requireArg(args: string[]) {
  if (args.length === 0) throw new Error("missing argument");
  return args[0];
}

test("needs an argument", () => {
  expect(() => requireArg([])).toThrow("missing");
  expect(exit).not.toHaveBeenCalled();
});
