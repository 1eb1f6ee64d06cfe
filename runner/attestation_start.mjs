// @bun
// bun loads this file before any test (--preload). It reads the key while runner/attestation.mjs is loaded, which does the rest.
const kChannel = 4; // runner/sandbox.h: SandboxSpec::kAttestationFd
const channel = Bun.file(kChannel);
const reading = channel.slice(0, 16).bytes();
const { default: begin } = import.meta.require(import.meta.dir + "/.guard-attestation-core.js");
begin(Bun.jest(import.meta.path), await reading, channel, process.getBuiltinModule("bun:jsc"), import.meta.require.cache);
