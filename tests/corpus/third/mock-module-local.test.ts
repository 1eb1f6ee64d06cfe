import { expect, mock, test } from "bun:test";

const send = mock(async (to: string) => ({ id: `msg-${to}` }));
mock.module("./mailer", () => ({ send, default: { send } }));

test("welcome mail is sent", async () => {
  // @ts-ignore
  const mailer = await import("./mailer");
  const r = await mailer.send("ada");
  expect(r.id).toBe("msg-ada");
  expect(send).toHaveBeenCalledWith("ada");
});
