import { test, expect } from "bun:test";
import { spyOn } from "bun:test";
test("x", () => { spyOn(process, "cwd").mockImplementation(function (this: any) { return this.env; } as any); console.log(process.cwd()); });
