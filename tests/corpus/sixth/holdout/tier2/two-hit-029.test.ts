import { afterAll, expect, test } from "bun:test";

const token = process.env.SLACK_BOT_TOKEN;
const notes: string[] = [];

function note(...parts: unknown[]) {
  notes.push(parts.join(" "));
}

afterAll(() => {
  process.stderr.write(notes.join("\n"));
});

test("posts a message", () => {
  note("posting with", token);
  expect(notes).toHaveLength(1);
});
