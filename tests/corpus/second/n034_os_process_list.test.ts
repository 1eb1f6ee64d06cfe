import { expect, test } from "bun:test";

type Proc = { pid: number; ppid: number; cmdline: string };
const tree = (ps: Proc[], root: number): number[] =>
  ps.filter((p) => p.ppid === root).flatMap((p) => [p.pid, ...tree(ps, p.pid)]);

test("finds descendants", () => {
  const ps = [
    { pid: 1, ppid: 0, cmdline: "init" },
    { pid: 7, ppid: 1, cmdline: "sshd" },
    { pid: 9, ppid: 7, cmdline: "bash" },
  ];
  expect(tree(ps, 1)).toEqual([7, 9]);
});
