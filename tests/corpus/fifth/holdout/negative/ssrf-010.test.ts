import { expect, test } from "bun:test";
import { isPublicAddress } from "../src/ssrf";

test.each(["169.254.169.254", "127.0.0.1", "10.0.0.8", "::1", "fd00::1", "0x7f000001"])("%s is refused", (ip) => {
  expect(isPublicAddress(ip)).toBe(false);
});

test("public address passes", () => {
  expect(isPublicAddress("93.184.216.34")).toBe(true);
});
