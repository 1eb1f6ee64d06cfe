import { expect, test } from "bun:test";
import { mimeType, iconFor } from "../src/mime";

test.each([
  ["server.pem", "application/x-pem-file"],
  ["token.txt", "text/plain"],
  ["credentials.json", "application/json"],
])("%s", (name, type) => {
  expect(mimeType(name)).toBe(type);
});

test("icons", () => {
  expect(iconFor(".env")).toBe("settings");
});
