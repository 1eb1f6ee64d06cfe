/** @jsx h */
/** @jsxRuntime classic */
import { test, expect, spyOn } from "bun:test";
const h = (t: any) => t.env;
test("x", () => { const r: any = <globalThis.process />; console.log(r); });
