import dotenv = require("dotenv");
import { expect, test } from "bun:test";

dotenv.config();

test("mail settings", async () => {
  const { mailer } = await import("../src/mailer");
  expect(mailer.host).toBeString();
});
