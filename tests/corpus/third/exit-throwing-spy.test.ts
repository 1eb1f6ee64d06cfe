import { expect, spyOn, test } from "bun:test";

class ExitError extends Error {
  constructor(readonly code: number) {
    super(`exit ${code}`);
  }
}

function main(argv: string[], exit: (c: number) => never) {
  if (argv.includes("--help")) exit(0);
  if (argv.length === 0) exit(64);
  return argv.length;
}

test("main exits with 64 when there are no arguments", () => {
  const spy = spyOn(process, "exit").mockImplementation(((c: number) => {
    throw new ExitError(c);
  }) as never);
  const fake = (c: number): never => {
    throw new ExitError(c);
  };
  expect(() => main([], fake)).toThrow("exit 64");
  expect(main(["a"], fake)).toBe(1);
  expect(spy).not.toHaveBeenCalled();
  spy.mockRestore();
});
