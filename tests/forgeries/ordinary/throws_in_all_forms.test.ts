// toThrow with nothing, texts, patterns, classes, instances and asymmetric matchers; rejects and resolves.
import { describe, expect, test } from "bun:test";
class Refused extends Error { constructor(message: string, readonly code = 7) { super(message); this.name = "Refused"; } }
const throwing = () => { throw new Refused("no way"); };
const rejecting = async () => { throw new Refused("no way"); };
describe("throws", () => {
  test("in all forms", () => {
    expect(throwing).toThrow();
    expect(throwing).toThrow("no");
    expect(throwing).toThrow(/way$/);
    expect(throwing).toThrow(Refused);
    expect(throwing).toThrow(Error);
    expect(throwing).toThrow(new Refused("no way"));
    expect(throwing).toThrow(expect.objectContaining({ code: 7 }));
    expect(throwing).toThrowError("no way");
    expect(throwing).not.toThrow("yes");
    expect(() => {}).not.toThrow();
    expect(() => { throw "a text"; }).toThrow("a text");
    expect(() => { throw null; }).toThrow();
  });
  test("in snapshots", () => {
    expect(throwing).toThrowErrorMatchingInlineSnapshot(`"no way"`);
  });
  test("of assertions that fail", () => {
    expect(() => expect(1).toBe(2)).toThrow();
    expect(() => { expect({ a: 1 }).toEqual({ a: 2 }); }).toThrow(/Expected|expect/);
    expect(() => expect.unreachable("never")).toThrow("never");
  });
  test("and is caught by hand", () => {
    let caught: unknown;
    try { throwing(); } catch (error) { caught = error; }
    expect(caught).toBeInstanceOf(Refused);
    try { throwing(); expect.unreachable(); } catch (error) { expect((error as Refused).code).toBe(7); }
  });
});
describe("promises", () => {
  test("reject", async () => {
    await expect(rejecting()).rejects.toThrow();
    await expect(rejecting()).rejects.toThrow("no way");
    await expect(rejecting()).rejects.toThrow(Refused);
    await expect(rejecting()).rejects.toBeInstanceOf(Refused);
    await expect(rejecting()).rejects.toMatchObject({ code: 7 });
    await expect(rejecting()).rejects.not.toThrow("yes");
    await expect(Promise.reject(3)).rejects.toBe(3);
    await expect(async () => { await rejecting(); }).toThrow("no way");
  });
  test("resolve", async () => {
    await expect(Promise.resolve(1)).resolves.toBe(1);
    await expect(Promise.resolve({ a: 1 })).resolves.toEqual({ a: 1 });
    await expect(Promise.resolve(1)).resolves.not.toBe(2);
    await expect((async () => "done")()).resolves.toMatch("one");
  });
  test("are returned", () => expect(Promise.resolve(1)).resolves.toBe(1));
  test("are returned too", () => rejecting().catch((error) => { expect(error).toBeInstanceOf(Refused); }));
  test("are awaited together", async () => { await Promise.all([expect(Promise.resolve(1)).resolves.toBe(1), expect(rejecting()).rejects.toThrow()]); });
  test("fail as asked for", async () => {
    await expect((async () => { expect(1).toBe(2); })()).rejects.toThrow();
    await expect((async () => { await expect(Promise.resolve(1)).resolves.toBe(2); })()).rejects.toThrow();
  });
  test("fail as asked for, by then", () => expect(Promise.resolve().then(() => { expect(1).toBe(2); })).rejects.toBeInstanceOf(Error));
});
