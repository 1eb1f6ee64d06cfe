import { expect, test } from "bun:test";

interface Command {
  execute(): void;
  undo(): void;
}

class Editor {
  text = "";
  private done: Command[] = [];
  exec(c: Command) {
    c.execute();
    this.done.push(c);
  }
  undo() {
    this.done.pop()?.undo();
  }
  insert(s: string): Command {
    const before = this.text;
    return { execute: () => void (this.text += s), undo: () => void (this.text = before) };
  }
}

test("exec then undo", () => {
  const e = new Editor();
  e.exec(e.insert("hello"));
  e.exec(e.insert(" world"));
  e.undo();
  expect(e.text).toBe("hello");
});
