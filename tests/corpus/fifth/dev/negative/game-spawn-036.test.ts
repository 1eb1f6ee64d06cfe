import { expect, test } from "bun:test";
import { World } from "../src/world";

test("a rider may mount a horse", () => {
  const w = new World(7);
  const [knight, horse] = [w.spawn("knight"), w.spawn("horse")];
  knight.mount(horse);
  expect(horse.rider).toBe(knight);
  w.kill(horse);
  expect(knight.mounted).toBe(false);
  expect(w.amount("horse")).toBe(0);
});
