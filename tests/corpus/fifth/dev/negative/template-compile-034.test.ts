import { expect, test } from "bun:test";
import { compileToSource } from "../src/compiler";

const render = (tpl: string, data: object) => new Function("data", compileToSource(tpl))(data);

test("loops", () => {
  expect(render("{{#each xs}}<li>{{this}}</li>{{/each}}", { xs: [1, 2] })).toBe("<li>1</li><li>2</li>");
});
