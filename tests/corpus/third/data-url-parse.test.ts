import { expect, test } from "bun:test";

function parseDataUrl(u: string) {
  const m = /^data:([^;,]+)?(;base64)?,(.*)$/s.exec(u);
  if (!m) return null;
  const body = m[2] ? Buffer.from(m[3], "base64").toString() : decodeURIComponent(m[3]);
  return { mime: m[1] ?? "text/plain", body };
}

test("plain and base64", () => {
  expect(parseDataUrl("data:text/plain,hi%20there")).toEqual({ mime: "text/plain", body: "hi there" });
  expect(parseDataUrl("data:text/javascript;base64,YWxlcnQoMSk=")).toEqual({ mime: "text/javascript", body: "alert(1)" });
  expect(parseDataUrl("https://example.com")).toBeNull();
});
