import { afterEach, expect, mock, spyOn, test } from "bun:test";

const fail = (log: (m: string) => void, quit: (code: number) => void) => {
  log("fatal");
  quit(2);
};

afterEach(() => mock.restore());

test("fatal errors ask for exit code 2", () => {
  const exit = spyOn(process, "exit").mockImplementation((() => undefined) as never);
  const log = spyOn(console, "error").mockImplementation(() => {});
  fail((m) => console.error(m), (c) => exit(c));
  expect(exit).toHaveBeenCalledWith(2);
  expect(log).toHaveBeenCalledTimes(1);
});
