import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, mock, spyOn, test } from "bun:test";
let n = 0;
test("comes right at last", () => { expect(++n).toBe(2); }, { retry: 3 });
