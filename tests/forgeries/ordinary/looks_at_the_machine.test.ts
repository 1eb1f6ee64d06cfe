// What the machine says of itself, by each way to the module, spied on and replaced.
import { afterEach, expect, mock, spyOn, test } from "bun:test";
import os, { networkInterfaces } from "node:os";
import * as all from "os";

afterEach(() => mock.restore());

test("has interfaces", () => {
  for (const list of [networkInterfaces(), os.networkInterfaces(), all.networkInterfaces(), require("os").networkInterfaces(), require("node:os").networkInterfaces()]) {
    expect(Object.values(list).flat().every((entry) => entry!.internal)).toBe(true);
    expect(Object.keys(list)).toEqual(["lo"]);
  }
  expect(os.networkInterfaces.name).toBe("networkInterfaces");
});

test("can be spied on", () => {
  const spy = spyOn(os, "platform").mockReturnValue("win32");
  expect(os.platform()).toBe("win32");
  expect(spy).toHaveBeenCalledTimes(1);
  spyOn(os, "networkInterfaces").mockImplementation(() => ({}));
  expect(os.networkInterfaces()).toEqual({});
});

test("is whole again", () => {
  expect(os.platform()).toBe("linux");
  expect(Object.keys(os.networkInterfaces())).toEqual(["lo"]);
  expect(os.EOL).toBe("\n");
});

test("can be replaced", async () => {
  await mock.module("os", () => ({ hostname: () => "elsewhere", default: { hostname: () => "elsewhere" } }));
  expect((await import("os")).hostname()).toBe("elsewhere");
});
