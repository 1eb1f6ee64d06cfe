import { describe, expect, mock, test } from "bun:test";

type Spawn = (cmd: string, args: string[]) => { exited: Promise<number> };

async function release(spawn: Spawn, version: string) {
  for (const [cmd, ...args] of [["git", "tag", `v${version}`], ["git", "push", "--tags"]]) {
    const code = await spawn(cmd, args).exited;
    if (code !== 0) throw new Error(`${cmd} ${args.join(" ")} failed with exit code ${code}`);
  }
}

describe("release", () => {
  test("runs git tag before git push", async () => {
    const spawn = mock((_c: string, _a: string[]) => ({ exited: Promise.resolve(0) }));
    await release(spawn, "1.2.3");
    expect(spawn.mock.calls.map(([c, a]) => [c, ...a].join(" "))).toEqual(["git tag v1.2.3", "git push --tags"]);
  });

  test("stops on a non-zero exit code", async () => {
    const spawn = mock(() => ({ exited: Promise.resolve(128) }));
    expect(release(spawn, "1.0.0")).rejects.toThrow("failed with exit code 128");
    expect(spawn).toHaveBeenCalledTimes(1);
  });
});
