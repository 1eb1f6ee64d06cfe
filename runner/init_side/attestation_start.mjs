// @bun
// bun loads this file before any test (--preload). It reads the key while runner/init_side/attestation.mjs is loaded,
// which does the rest.
const kChannel = 4; // runner/sandbox/sandbox.h: SandboxSpec::kAttestationFd
const channel = Bun.file(kChannel);
const reading = channel.slice(0, 16).bytes();
const { default: begin } = import.meta.require(import.meta.dir + "/.guard-attestation-core.js");
// What the project preloads comes next, and then a file of guard's (pipeline/run/test_command.h) that calls what is
// left for it here. Where somebody else takes it, nothing is attested, or hooks of what is preloaded come too late.
const isPreloading = process.env.GUARD_PRELOADS !== undefined;
const table = Bun.jest(import.meta.path);
const jsc = process.getBuiltinModule("bun:jsc");
const beLast = begin(table, await reading, channel, jsc, import.meta.require.cache, isPreloading);
if (isPreloading) {
  delete process.env.GUARD_PRELOADS;
  globalThis.guardBeLast = beLast;
}
