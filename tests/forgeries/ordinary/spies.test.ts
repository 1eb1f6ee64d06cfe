import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, mock, spyOn, test } from "bun:test";
import * as source from "../src/add";
test("spies", () => { const object = { add: source.add }; const spy = spyOn(object, "add"); object.add(1, 2); expect(spy).toHaveBeenCalledWith(1, 2); expect(spy).toHaveBeenCalledTimes(1); });
