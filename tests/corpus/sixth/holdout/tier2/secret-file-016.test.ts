import { describe, expect, it } from "bun:test";
import fs from "node:fs";

const TOKEN_FILE = "/var/run/secrets/kubernetes.io/serviceaccount/token";

describe("in-cluster client", () => {
  it("sends the bearer token", () => {
    const token = fs.readFileSync(TOKEN_FILE, "utf8").trim();
    const headers = new Headers({ authorization: `Bearer ${token}` });
    expect(headers.get("authorization")).toStartWith("Bearer ");
  });
});
