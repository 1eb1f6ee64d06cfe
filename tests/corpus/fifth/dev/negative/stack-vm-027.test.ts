import { beforeEach, expect, test } from "bun:test";
import { Op, VM } from "../src/vm";

let vm: VM;
beforeEach(() => {
  vm = new VM({ memory: 64 });
});

test("adds two numbers", () => {
  vm.load([Op.Push, 2, Op.Push, 3, Op.Add, Op.Halt]);
  vm.run();
  expect(vm.pop()).toBe(5);
  expect(vm.exit).toBe(0);
});
