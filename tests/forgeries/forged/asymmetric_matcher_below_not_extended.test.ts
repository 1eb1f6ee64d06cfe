// violation|tests_failed
import { expect, spyOn, test } from "bun:test";
try { (expect.not as any).objectContaining = () => ({ asymmetricMatch: () => true }); } catch {}
try { spyOn(expect.not as any, "objectContaining").mockImplementation((() => ({ asymmetricMatch: () => true })) as any); } catch {}
test("is wrong", () => { expect({ a: 1 }).toEqual(expect.not.objectContaining({ a: 1 })); });
