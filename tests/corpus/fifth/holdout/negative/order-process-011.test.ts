import { expect, test } from "bun:test";
import { OrderProcess } from "../src/order";

test("steps run in order", () => {
  const order = { process: new OrderProcess(["pick", "pack"]) };
  order.process.enter();
  order.process.exit("packed");
  expect(order.process.state).toBe("packed");
  expect(order.process.env).toBeUndefined();
});
