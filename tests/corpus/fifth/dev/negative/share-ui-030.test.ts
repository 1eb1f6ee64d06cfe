import { expect, test } from "bun:test";
import { Album } from "../src/album";

test("unshare revokes every link", async () => {
  const a = await Album.create("trip");
  await a.share("ann@example.com");
  await a.unshare("ann@example.com");
  expect(a.members).toEqual([]);
  const ptrace = a.history.map((h) => h.kind);
  expect(ptrace).toEqual(["create", "share", "unshare"]);
});
