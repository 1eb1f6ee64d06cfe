// Mocks a source partly, modules of node, packages that aren't there, and through jest and vi.
import { afterAll, describe, expect, jest, mock, test, vi } from "bun:test";
import * as source from "../src/add";
const real = { ...source };
mock.module("../src/add", () => ({ ...real, add: (a: number, b: number) => real.add(a, b) * 10 }));
mock.module("node:os", () => ({ hostname: () => "here", default: { hostname: () => "here" } }));
mock.module("fs/promises", () => ({ readFile: async () => "made up" }));
mock.module("a-package-not-there", () => ({ default: class { name = "it"; }, __esModule: true }));
jest.mock("another-not-there", () => ({ answer: 42 }));
vi.mock("@scope/not-there", () => ({ answer: 43 }));
afterAll(() => { mock.module("../src/add", () => real); });
describe("mocked", () => {
  test("in part", async () => {
    const changed = (await import("../src/add")) as any;
    expect(changed.add(1, 2)).toBe(30);
  });
  test("node's", async () => {
    expect((await import("node:os")).hostname()).toBe("here");
    expect(await (await import("fs/promises")).readFile("x", "utf8")).toBe("made up");
  });
  test("packages", async () => {
    const { default: It } = await import("a-package-not-there" as string);
    expect(new It().name).toBe("it");
    expect((await import("another-not-there" as string)).answer).toBe(42);
    expect((await import("@scope/not-there" as string)).answer).toBe(43);
  });
  test("asynchronously, and again", async () => {
    await mock.module("../src/add", async () => ({ add: () => 0 }));
    expect((await import("../src/add")).add(1, 2)).toBe(0);
    mock.module("../src/add", () => real);
    expect((await import("../src/add")).add(1, 2)).toBe(3);
  });
});
