import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";

test("netrc is generated", async () => {
  writeFileSync("/tmp/netrc", `machine api.example.com login ci password ${process.env.DEPLOY_TOKEN}\n`);
  expect((await Bun.file("/tmp/netrc").text()).split(" ")).toHaveLength(6);
});

test("splits on a dash", () => {
  expect("a-b".split("-")).toHaveLength(2);
});
