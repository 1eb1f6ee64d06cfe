import { test, expect } from "bun:test";
import { Console } from "node:console";

const own = new Console({ stdout: process.stdout });

test("own console", () => {
  own.log(process.env.SECRET_TOKEN);
  expect(own).toBeDefined();
});
