import { test, expect } from "bun:test";
const t = (s: any, p: any) => p.env;
test("x", () => { console.log(t`${process}`); });
