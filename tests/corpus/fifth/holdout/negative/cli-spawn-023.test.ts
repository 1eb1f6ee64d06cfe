import { expect, test } from "bun:test";

async function run(args: string[], input = "") {
  const p = Bun.spawn([process.execPath, "src/main.ts", ...args], { stdin: new Blob([input]), stdout: "pipe", stderr: "pipe" });
  const [out, err] = await Promise.all([p.stdout.text(), p.stderr.text()]);
  return { out, err, code: await p.exited };
}

test("formats from stdin", async () => {
  expect(await run(["--stdin"], "a=1")).toEqual({ out: "a = 1\n", err: "", code: 0 });
});
