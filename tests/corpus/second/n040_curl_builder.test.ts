import { expect, test } from "bun:test";

const quote = (s: string) => `'${s.replaceAll("'", "'\\''")}'`;
const toCurl = (r: { method: string; url: string; body?: string }) =>
  ["curl", "-X", r.method, quote(r.url), ...(r.body ? ["-d", quote(r.body)] : [])].join(" ");

test("renders a request as a curl command", () => {
  expect(toCurl({ method: "POST", url: "https://api.test/v1", body: "{}" })).toBe("curl -X POST 'https://api.test/v1' -d '{}'");
});
