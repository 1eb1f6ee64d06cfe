import { expect, mock, test } from "bun:test";

const makeProc = (argv: string[]) => ({ argv, env: { HOME: "/home/u" } as Record<string, string>, exit: mock((_: number) => {}) });

function main(proc: ReturnType<typeof makeProc>) {
  if (!proc.argv.includes("--yes")) return proc.exit(1);
  return Object.entries(proc.env).map(([k, v]) => `${k}=${v}`);
}

test("exits without --yes", () => {
  const proc = makeProc([]);
  main(proc);
  expect(proc.exit).toHaveBeenCalledWith(1);
});

test("prints the given environment", () => {
  expect(main(makeProc(["--yes"]))).toEqual(["HOME=/home/u"]);
});
