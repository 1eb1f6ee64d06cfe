// bun loads this before any test (--preload), in the process that runs them all. It makes the means of testing
// unchangeable, counts, and, once all tests of all files have ended, says so on a socket that leads to guard-init,
// together with a secret that it has read from there. The tests can write to that socket too, but they cannot know the
// secret: it is read before they are loaded, kept in this module alone, and leaves only with the last message.
//
// So a run that was ended early, however it was done, has no attestation, whatever report, summary and exit code say.
//
// Nothing here may call what a test could have replaced by the time it is called: functions are taken at the start, and
// bytes are copied one by one, so that the secret is never an argument of anything but the last write.
import * as all from "bun:test";
import { fstatSync, readSync, writeSync } from "node:fs";
import Module from "node:module";

const { afterAll, afterEach, describe, expect, jest, mock, test, vi } = all;
const kChannel = 4; // runner/sandbox.h: SandboxSpec::kAttestationFd
const kSecretBytes = 32; // runner/init_protocol.h
const { defineProperty, getOwnPropertyDescriptor, getPrototypeOf, setPrototypeOf, create } = Object;
const plainFunction = Function.prototype;
const { ownKeys, apply } = Reflect;
const Bytes = Uint8Array;
const text = String;
const stat = fstatSync;
const write = writeSync;
const charCodeAt = String.prototype.charCodeAt;

const secret = new Bytes(kSecretBytes);
if (readSync(kChannel, secret, 0, kSecretBytes, null) !== kSecretBytes) {
  throw new Error("this file belongs to guard, which starts it; it is of no use elsewhere");
}

// ---- what tests are made of ----------------------------------------------------------------------------------------

const replace = (object, name, value) => defineProperty(object, name, { value, enumerable: true, writable: false, configurable: false });

// Matchers of their own may be added, and libraries do; those that bun has keep their meaning. Some libraries bring
// equals of them, so this is no error.
const extend = expect.extend;
const matchers = getPrototypeOf(expect(0));
const isBuiltIn = create(null);
for (const name of ownKeys(matchers)) isBuiltIn[name] = true;
replace(expect, "extend", function (added) {
  if (added === null || typeof added !== "object") return apply(extend, expect, [added]);
  const others = {};
  for (const name in added) if (!isBuiltIn[name]) others[name] = added[name];
  return apply(extend, expect, [others]);
});

// A mock of the means of testing would take the place of the imports of every file.
const guarded = (original) =>
  function (name, ...rest) {
    if (text(name) === "bun:test") throw new TypeError("guard: bun:test can't be mocked where its results are to be believed");
    return apply(original, this, [name, ...rest]);
  };
replace(mock, "module", guarded(mock.module));
for (const object of [jest, vi]) {
  if (typeof object?.mock === "function") replace(object, "mock", guarded(object.mock));
  if (typeof object?.module === "function") replace(object, "module", guarded(object.module));
}

// A test that is expected to fail passes by failing. Whoever asks for one is counted, by whatever chain (test.serial.failing)
// and however the key was made. bun's own getters cannot be replaced, so each of its functions gets others, and leads to the
// object of the getters no more.
let expectedFailures = 0;
const chain = getPrototypeOf(test);
const links = [];
for (const name of ownKeys(chain)) {
  if (typeof name !== "string" || name === "constructor") continue;
  links[links.length] = { name, found: getOwnPropertyDescriptor(chain, name), counts: name === "failing" || name === "failingIf" };
}
const guardedChain = (object) => {
  if (typeof object !== "function" || getPrototypeOf(object) !== chain) return object;
  for (let i = 0; i < links.length; ++i) {
    const { name, found, counts } = links[i];
    if (found.get) {
      const get = () => {
        if (counts) ++expectedFailures;
        return guardedChain(apply(found.get, object, []));
      };
      defineProperty(object, name, { get, enumerable: true, configurable: false });
    } else {
      replace(object, name, function (...given) {
        if (counts) ++expectedFailures;
        return guardedChain(apply(found.value, object, given));
      });
    }
  }
  return setPrototypeOf(object, plainFunction);
};
for (const name of ownKeys(all)) guardedChain(all[name]);

// `require("bun:test")` looks for it through functions that anybody may replace. (And in a table that cannot be closed: a rule refuses
// to require it.)
for (const name of ["require", "_compile"]) if (name in Module.prototype) replace(Module.prototype, name, Module.prototype[name]);
for (const name of ["_load", "_resolveFilename"]) if (name in Module) replace(Module, name, Module[name]);

const lock = (object) => {
  for (const name of ownKeys(object)) {
    const found = getOwnPropertyDescriptor(object, name);
    if (found.configurable === false && found.writable !== true) continue;
    defineProperty(object, name, "value" in found ? { writable: false, configurable: false } : { configurable: false });
  }
};
for (const object of [matchers, expect, test, describe, chain, mock]) lock(object);

// ---- what is attested ----------------------------------------------------------------------------------------------

// Where a descriptor leads. Both that matter are sockets: they can be closed, but nobody can open them once more, so what was led
// elsewhere stays there. On standard error bun tells of a failed test at once.
const place = (fd) => {
  try {
    const found = stat(fd);
    return text(found.dev) + ":" + text(found.ino);
  } catch {
    return "closed";
  }
};
const errorsAtStart = place(2);
const channelAtStart = place(kChannel);
let ran = 0;
let redirected = 0;

const look = () => {
  if (place(2) !== errorsAtStart) redirected = 1;
};

afterEach(() => {
  ++ran;
  look();
});

afterAll(() => {
  look();
  const said = "ran=" + text(ran) + "\nredirected=" + text(redirected) + "\nexpected_failures=" + text(expectedFailures) + "\n";
  const message = new Bytes(kSecretBytes + said.length);
  for (let i = 0; i < kSecretBytes; ++i) message[i] = secret[i];
  for (let i = 0; i < said.length; ++i) message[kSecretBytes + i] = apply(charCodeAt, said, [i]);
  // To guard-init alone: whoever put a file in the socket's place must not read the secret from there.
  if (place(kChannel) === channelAtStart) write(kChannel, message);
});
