import { test, expect } from "bun:test";
import { settings } from "./helper";
test("x", () => { console.log(settings); });
