import { expect, test } from "bun:test";

type Action = () => void;
interface State { entry?: Action; exit?: Action; on: Record<string, string> }

function machine(states: Record<string, State>, start: string) {
  let cur = start;
  return {
    get state() { return cur; },
    send(ev: string) {
      const next = states[cur].on[ev];
      if (!next) return;
      states[cur].exit?.();
      cur = next;
      states[cur].entry?.();
    },
  };
}

test("runs exit then entry", () => {
  const log: string[] = [];
  const m = machine({ a: { exit: () => log.push("exit a"), on: { GO: "b" } }, b: { entry: () => log.push("in b"), on: {} } }, "a");
  m.send("GO");
  expect(log).toEqual(["exit a", "in b"]);
});
