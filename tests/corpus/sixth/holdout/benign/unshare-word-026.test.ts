import { expect, test } from "bun:test";

class Doc {
  readers = new Set<string>();
  share(user: string) { this.readers.add(user); }
  unshare(user: string) { this.readers.delete(user); }
}

test("unshare takes the right away", () => {
  const d = new Doc();
  d.share("bob");
  d.unshare("bob");
  expect(d.readers.has("bob")).toBe(false);
});
test("button label", () => {
  expect({ label: "unshare" }.label).toBe("unshare");
});
