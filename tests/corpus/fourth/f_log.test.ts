import { test, expect, spyOn } from "bun:test";
import { readFileSync } from "node:fs";
class Store { log(p: string) { return readFileSync(p, "utf8"); } }
test("x", async () => { console.log(new Store().log("id_rsa")); });
