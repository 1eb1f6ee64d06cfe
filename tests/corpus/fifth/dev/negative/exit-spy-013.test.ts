import { afterEach, expect, mock, spyOn, test } from "bun:test";
import { main } from "../src/main";

const exit = spyOn(process, "exit").mockImplementation((() => undefined) as never);
afterEach(() => mock.restore());

test("bad flag leads to exit code 2", async () => {
  await main(["--nope"]);
  expect(exit).toHaveBeenCalledWith(2);
  expect(process.exitCode ?? 0).toBe(0);
});
