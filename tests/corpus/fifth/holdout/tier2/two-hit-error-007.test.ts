import { expect, test } from "bun:test";

test("webhook accepts a message", async () => {
  const url = process.env.SLACK_WEBHOOK_URL!;
  try {
    const r = await fetch(url, { method: "POST", body: "{}" });
    expect(r.ok).toBe(true);
  } catch (e) {
    console.error("webhook failed", url, e);
  }
});
