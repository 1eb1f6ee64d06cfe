// bun run check_mutants.ts FOLDER: are the mutants that GUARD_MUTANTS_OUT wrote still programs, and do those that only
// spell otherwise mean the same? A mutant that is no program proves nothing.
import { readdirSync, readFileSync } from "node:fs";

const folder = process.argv[2] ?? ".";
const transpiler = new Bun.Transpiler({ loader: "ts", target: "bun", minifyWhitespace: true });

// What the transpiler takes away by itself, up to the spellings below.
const spellingOnly =
  /^(blank\.|string\.(hex|unicode|unicode_braces|vain_escape|line_continuation|quotes|as_const|cast|parentheses)$|member\.(brackets|non_null|cast|old_cast|satisfies|parentheses|dot)$|call\.(parentheses|cast_callee|non_null_callee|cast)$|name\.escape$)/;

function normal(text: string): string {
  return transpiler
    .transformSync(text)
    .replace(/^\uFEFF/, "")
    .replace(/\(0, ("[^"]*")\)/g, "$1")
    .replace(/`([^`$\\"]*)`/g, '"$1"')
    .replace(/'([^'"\\]*)'/g, '"$1"')
    .replace(/\["([A-Za-z_$][\w$]*)"\]/g, ".$1");
}

let mutants = 0;
let compared = 0;
const faults: string[] = [];
for (const name of readdirSync(folder).filter((file) => file.endsWith(".ts")).sort()) {
  const text = readFileSync(`${folder}/${name}`, "utf8");
  const label = text.slice(text.lastIndexOf("\n/*")).trim().replace(/ \*\/$/, "");
  const kinds = label.split(":").pop()!.trim().split(" ");
  ++mutants;
  try {
    const mutant = normal(text);
    if (!kinds.every((kind) => spellingOnly.test(kind))) continue;
    ++compared;
    if (mutant !== normal(readFileSync(`${folder}/${name.replace(".ts", ".plain")}`, "utf8"))) faults.push(`${name} ${label}: means something else`);
  } catch (problem) {
    faults.push(`${name} ${label}: ${String(problem).split("\n")[0]}`);
  }
}
console.log(`${mutants} mutants are programs but for ${faults.length}; ${compared} were compared`);
for (const fault of faults.slice(0, 20)) console.error(fault);
process.exit(mutants > 0 && faults.length === 0 ? 0 : 1);
