import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";

const launch = (env: string) => spawnSync("node", `--env-file=${env} dist/server.js --dry-run`.split(" "));

test.each(["../.env", "../.env.staging"])("boots with %s", (f) => {
  expect(launch(f).status).toBe(0);
});
