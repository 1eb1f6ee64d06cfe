// Uses the names that are there without an import.
declare const describe: any, test: any, it: any, expect: any, beforeEach: any, afterEach: any, beforeAll: any, afterAll: any, jest: any, vi: any, xit: any;
const list: number[] = [];
beforeAll(() => { list.push(0); });
beforeEach(() => { list.push(1); });
afterEach(() => {});
afterAll(() => {});
describe("global", () => { it("is there", () => { expect(list).toContain(1); }); test("too", () => { const fn = jest.fn(); fn(1); expect(fn).toHaveBeenCalledWith(1); }); });
test.todo("later");
it.skip("not now", () => { expect(1).toBe(2); });
