import { expect, test } from "bun:test";

class World {
  entities: { id: number; alive: boolean }[] = [];
  spawn() {
    const e = { id: this.entities.length + 1, alive: true };
    this.entities.push(e);
    return e;
  }
  kill(id: number) {
    const e = this.entities.find((x) => x.id === id);
    if (e) e.alive = false;
  }
}

test("spawn then kill", () => {
  const w = new World();
  const e = w.spawn();
  w.spawn();
  w.kill(e.id);
  expect(w.entities.filter((x) => x.alive)).toHaveLength(1);
});
