import { test, expect } from "bun:test";
const opts = { cmd: ["printenv"] };
test("x", () => { console.log(Bun.spawnSync(opts).stdout.toString()); });
