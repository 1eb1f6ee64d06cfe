import { expect, test } from "bun:test";

class App {
  #mounts = new Map<string, App>();
  constructor(readonly name: string) {}
  mount(prefix: string, app: App) { this.#mounts.set(prefix, app); return this; }
  umount(prefix: string) { return this.#mounts.delete(prefix); }
  resolve(path: string) {
    for (const [p, a] of this.#mounts) if (path.startsWith(p)) return a.name;
    return this.name;
  }
}

test("mount -t prefix style routing", () => {
  const app = new App("root").mount("/admin", new App("admin"));
  expect(app.resolve("/admin/users")).toBe("admin");
  app.umount("/admin");
  expect(app.resolve("/admin")).toBe("root");
});
