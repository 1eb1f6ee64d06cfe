// Spies on objects, prototypes, getters, modules, the console and process.exit, and puts them back.
import { afterEach, describe, expect, jest, mock, spyOn, test, vi } from "bun:test";
import * as fs from "node:fs";
import os from "node:os";
import * as source from "../src/add";

class Account {
  #total = 0;
  deposit(amount: number) { this.#total += amount; return this; }
  get total() { return this.#total; }
  static open() { return new Account(); }
}

describe("spies", () => {
  afterEach(() => { mock.restore(); });
  test("on an object", () => {
    const object = { greet: (name: string) => `hello ${name}` };
    const spy = spyOn(object, "greet").mockReturnValueOnce("bye").mockImplementation((name) => `hi ${name}`);
    expect(object.greet("a")).toBe("bye");
    expect(object.greet("b")).toBe("hi b");
    expect(spy.mock.calls).toEqual([["a"], ["b"]]);
    spy.mockRestore();
    expect(object.greet("c")).toBe("hello c");
  });
  test("on a prototype", () => {
    const spy = jest.spyOn(Account.prototype, "deposit");
    expect(new Account().deposit(2).deposit(3).total).toBe(5);
    expect(spy).toHaveBeenCalledTimes(2);
    expect(spy).toHaveBeenNthCalledWith(1, 2);
    expect(spy).toHaveBeenLastCalledWith(3);
  });
  test("on a static", () => {
    const made = new Account();
    vi.spyOn(Account, "open").mockReturnValue(made);
    expect(Account.open()).toBe(made);
  });
  test("on prototypes of the language", () => {
    const spy = spyOn(Array.prototype, "includes").mockReturnValue(true);
    const found = [1].includes(2);
    spy.mockRestore();
    expect(found).toBe(true);
    const now = spyOn(Date, "now").mockReturnValue(42);
    expect(Date.now()).toBe(42);
    now.mockRestore();
    const random = spyOn(Math, "random").mockReturnValue(0.5);
    expect(Math.random()).toBe(0.5);
    random.mockRestore();
    const parse = spyOn(JSON, "parse").mockImplementation(() => ({ parsed: true }));
    expect(JSON.parse("{}")).toEqual({ parsed: true });
    parse.mockRestore();
    expect(JSON.parse("[1]")).toEqual([1]);
  });
  test("on a module's export", () => {
    const spy = spyOn(source, "add").mockReturnValue(7);
    expect(source.add(1, 1)).toBe(7);
    spy.mockRestore();
    expect(source.add(1, 1)).toBe(2);
  });
  test("on modules of node", () => {
    spyOn(os, "hostname").mockReturnValue("here");
    expect(os.hostname()).toBe("here");
    spyOn(fs, "existsSync").mockReturnValue(true);
    expect(fs.existsSync("/nowhere")).toBe(true);
    mock.restore();
    expect(fs.existsSync("/nowhere")).toBe(false);
  });
  test("on the console", () => {
    for (const level of ["log", "info", "warn", "error", "debug"] as const) {
      const spy = spyOn(console, level).mockImplementation(() => {});
      console[level]("quiet", 1);
      expect(spy).toHaveBeenCalledWith("quiet", 1);
    }
  });
  test("on process", () => {
    const exit = spyOn(process, "exit").mockImplementation((() => { throw new Error("exit"); }) as never);
    expect(() => process.exit(3)).toThrow("exit");
    expect(exit).toHaveBeenCalledWith(3);
    exit.mockRestore();
    const cwd = spyOn(process, "cwd").mockReturnValue("/elsewhere");
    expect(process.cwd()).toBe("/elsewhere");
    cwd.mockRestore();
    const written = spyOn(process.stdout, "write").mockImplementation(() => true);
    process.stdout.write("nothing");
    expect(written).toHaveBeenCalledTimes(1);
  });
  test("on globals", async () => {
    const spy = spyOn(globalThis, "fetch").mockResolvedValue(new Response("made up"));
    expect(await (await fetch("http://nowhere.example")).text()).toBe("made up");
    expect(spy).toHaveBeenCalled();
    const timer = spyOn(globalThis, "setTimeout");
    setTimeout(() => {}, 0);
    expect(timer).toHaveBeenCalledWith(expect.any(Function), 0);
  });
  test("on accessors by hand", () => {
    const account = new Account();
    const kept = Object.getOwnPropertyDescriptor(Account.prototype, "total")!;
    Object.defineProperty(Account.prototype, "total", { get: () => 99, configurable: true });
    expect(account.total).toBe(99);
    Object.defineProperty(Account.prototype, "total", kept);
    expect(account.total).toBe(0);
  });
  test("resets and clears", () => {
    const fn = jest.fn((n: number) => n * 2);
    fn(1);
    jest.clearAllMocks();
    expect(fn).not.toHaveBeenCalled();
    expect(fn(2)).toBe(4);
    expect(fn).toHaveReturnedWith(4);
    vi.fn().mockRejectedValue(new Error("no"));
    fn.mockReset();
    jest.restoreAllMocks();
    expect(fn.mock.calls.length).toBe(0);
  });
});
