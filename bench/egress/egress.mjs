// egress.mjs TEST_PROGRAM: tests/cli/network/situations.mjs as guard answers it on each backend, and as squid does that
// has the same list (squid.conf), each on a machine and an internet of their own. As root. test_program is the build's;
// squid-openssl is looked for at GUARD_BENCH_SQUID_OPENSSL. egress.md says what came of it.
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "guard-egress."));
const filter = "*/Network.LetsThroughWhatIsListedAndNothingElse/*:*/Squid.*";
spawnSync(process.argv[2], [`--gtest_filter=${filter}`, "--gtest_also_run_disabled_tests"],
  { stdio: ["ignore", 2, 2], env: { ...process.env, GUARD_SITUATIONS_FOLDER: folder } });
const tools = ["namespace", "docker", "squid", "squid_openssl"]
  .filter((tool) => fs.existsSync(`${folder}/${tool}.jsonl`));
const runs = Object.fromEntries(tools.map((tool) =>
  [tool, fs.readFileSync(`${folder}/${tool}.jsonl`, "utf8").trim().split("\n").map((line) => JSON.parse(line))]));
fs.rmSync(folder, { recursive: true });
const reached = Object.fromEntries(tools.map((tool) => [tool, runs[tool].pop()]));

const passes = (got) => /^(200|101|302|hello$|agreed|all of it|server hello|reply 0)/.test(got);
// The server got one request, for the host that is allowed.
const isMended = (got) => /^200 (GET|POST) \/ ok\.test /.test(got);
// Who looks at the ClientHello first says yes to each CONNECT, and judges then.
const isPutOff = (got, tool) => tool === "squid_openssl" && got === "agreed";
const fate = (row, i) => !passes(row.got[i]) ? "refused" : row.must ? "allowed" : isMended(row.got[i]) ? "mended" :
  isPutOff(row.got[i], tools[i]) ? "put off" : "through";
const groups = { "asked by HTTP": [], "asked by SOCKS": [], "around the proxy": [] };
runs[tools[0]].forEach((one, i) => {
  const group = one.decision === "" ? "around the proxy" : /SOCKS/.test(one.name) ? "asked by SOCKS" : "asked by HTTP";
  const must = passes(one.wanted);
  groups[group].push({ ...one, must, got: tools.map((tool) => runs[tool][i]?.got ?? "nothing") });
});

const count = (rows, which) => rows.filter(which).length;
console.log(`| | ${tools.join(" | ")} |\n|---|${"---|".repeat(tools.length)}`);
for (const [group, rows] of Object.entries(groups)) {
  const line = (what, which) =>
    console.log(`| ${group}: ${what} | ${tools.map((_, i) => count(rows, which(i))).join(" | ")} |`);
  if (group === "around the proxy") {
    console.log(`| ${group}: ${rows.length} kept in | ${tools.map((tool, i) => /squid/.test(tool) ? "not its work" :
      count(rows, (row) => row.got[i] === row.wanted)).join(" | ")} |`);
    continue;
  }
  const due = count(rows, (row) => row.must);
  line(`${due} allowed as due`, (i) => (row) => fate(row, i) === "allowed");
  line(`${rows.length - due} refused as due`, (i) => (row) => !row.must && fate(row, i) === "refused");
  for (const other of ["mended", "put off", "through"]) line(other, (i) => (row) => fate(row, i) === other);
}
console.log(`\n| situation | due | ${tools.join(" | ")} |\n|---|---|${"---|".repeat(tools.length)}`);
for (const row of groups["asked by HTTP"]) {
  if (row.got.every((got) => passes(got) === row.must)) continue;
  const shown = row.got.map((got, i) => `${fate(row, i)} (${got.replaceAll("|", "\\|")})`);
  console.log(`| ${row.name} | ${row.must ? "allowed" : "refused"} | ${shown.join(" | ")} |`);
}
for (const tool of tools) {
  const extra = reached[tool].internet.filter((one) => !reached[tools[0]].internet.includes(one));
  console.log(`\n${tool}: connections to the machine itself, by port: ${JSON.stringify(reached[tool].machine)}; ` +
    `what left the machine beside what guard lets: ${extra.join(", ") || "nothing"}`);
}
