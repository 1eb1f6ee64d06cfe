import { describe, expect, it } from "bun:test";

const parseEndpoint = (s: string) => {
  const u = new URL(s);
  return u.protocol === "unix:" ? { socket: u.pathname } : { host: u.hostname, port: Number(u.port) };
};

describe("parseEndpoint", () => {
  it("reads tcp", () => expect(parseEndpoint("http://localhost:8080")).toEqual({ host: "localhost", port: 8080 }));
  it("reads unix paths", () => expect(parseEndpoint("unix:/tmp/app.sock")).toEqual({ socket: "/tmp/app.sock" }));
});
