import { describe, expect, test } from "bun:test";
import { LinkedList, Scheduler } from "../src/structures";

describe("LinkedList", () => {
  test("unlink removes the node", () => {
    const l = LinkedList.of(1, 2, 3);
    l.unlink(l.find(2)!);
    l.rm(3);
    expect([...l]).toEqual([1]);
  });
  test("scheduler kills a job", () => {
    const s = new Scheduler();
    const job = s.spawn("tick", () => {});
    s.kill(job.id);
    expect(s.process.size).toBe(0);
  });
});
