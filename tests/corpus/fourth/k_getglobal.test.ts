import { test, expect, spyOn } from "bun:test";
class X { static m({ process: p }: any) { p.exit(77); } }
test("x", async () => { X.m(globalThis); });
