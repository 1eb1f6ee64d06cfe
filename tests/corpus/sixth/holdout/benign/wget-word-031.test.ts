import { describe, expect, it } from "bun:test";

function isCli(ua: string): boolean {
  return /^(curl|Wget|HTTPie)\/[\d.]+/.test(ua);
}

describe("isCli", () => {
  it.each([["curl/8.4.0", true], ["Wget/1.21.4", true], ["Mozilla/5.0 (X11; Linux)", false]])("%s", (ua, want) => {
    expect(isCli(ua)).toBe(want);
  });
  it("is not fooled by widgets", () => {
    expect(isCli("widget/1.0")).toBe(false);
  });
});
