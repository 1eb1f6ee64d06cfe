import { expect, mock, test } from "bun:test";

type Run = (cmd: string, args: string[]) => Promise<number>;
async function setup(run: Run, pm: string) {
  return (await run(pm, ["install"])) === 0;
}

test("asks the runner to install", async () => {
  const run = mock(async (_cmd: string, _args: string[]) => 0);
  expect(await setup(run, "pm")).toBe(true);
  expect(run).toHaveBeenCalledWith("pm", ["install"]);
});
