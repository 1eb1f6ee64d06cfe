// @bun
// The line above keeps bun from translating this file: it runs as it stands, or as bytecode that bun has made of it
// (runner/image/image.h).
//
// runner/init_side/attestation_start.mjs calls this before any test is loaded. It puts itself between the tests and
// bun's test API, counts what runs and what is asserted, and, when all tests have ended, sends the counts to guard-init
// with a MAC (SipHash-2-4, as runner/init_side/frame_tag.h) under a key that was read from there before any foreign
// code ran.
//
// Isolation by construction: a test never holds one of bun's own `test`, `expect` or matcher objects, only frozen
// stand-ins that keep the originals in closures and private fields. So replacing a property, however it is done, does
// not reach what counts; it is also refused or found, and reported as `tampered`.
//
// Rules for code in here: foreign code may have replaced every global and every prototype by the time it is called. So
// functions are taken at the start and called by `apply`; no iteration protocol, no spread of foreign values, no array
// that grows by index (a setter on Array.prototype would see it). The key exists as four integers in a closure.

const kKeyBytes = 16; // runner/init_side/frame_tag.h: kTagKeyBytes
const kTagBytes = 8;

export default (table, key, channel, jsc, required, isPreloading) => {
  if (key.length !== kKeyBytes) throw new Error("guard starts this file; it has no use elsewhere");
  const { defineProperty, freeze, getOwnPropertyDescriptor, getPrototypeOf, setPrototypeOf, create } = Object;
  const { apply, ownKeys } = Reflect;
  const { charCodeAt } = String.prototype;
  const { then } = Promise.prototype;
  const { startsWith, slice } = String.prototype;
  const { hasOwnProperty: hasOwn } = Object.prototype;
  const { is: sameValue } = Object;
  const { reallyExit: endProcess } = process;
  const { subarray } = Uint8Array.prototype;
  const weakHas = WeakSet.prototype.has;
  const weakAdd = WeakSet.prototype.add;
  const ErrorHere = Error;
  const TypeErrorHere = TypeError;
  const typeErrors = TypeError.prototype;
  const BytesHere = Uint8Array;
  const write = Bun.write;
  const answer = channel.slice(0, 1);
  const { bytes: readAll } = answer;
  const same = Bun.deepEquals;
  const { peek } = Bun;
  const { status } = peek;
  const wait = setTimeout;
  const immediate = setImmediate;
  const isArray = Array.isArray;
  const text = String;
  const { getBuiltinModule: builtinModule } = process;
  const { getProtectedObjects: held } = jsc;
  const clearTimer = clearTimeout;
  const { jest, vi, mock, beforeAll, afterEach, afterAll } = table;
  const { isFakeTimers, useRealTimers } = jest;

  const isObject = (value) => typeof value === "object" && value !== null;
  const isHolder = (value) => isObject(value) || typeof value === "function"; // of properties
  const startsWithText = (value, start) => apply(startsWith, value, [start]);
  const namesOf = (list) => {
    const names = { __proto__: null };
    for (let i = 0; i < list.length; ++i) names[list[i]] = true;
    return names;
  };

  // ---- what is counted ---------------------------------------------------------------------------------------------

  const count = {
    __proto__: null,
    begun: 0, // tests whose function was called; one each, however often it ran
    passed: 0,
    failed: 0, // passed + failed = begun
    attempts: 0, // calls of test functions: retries and repeats one by one
    failed_attempts: 0,
    flaky: 0, // tests that passed only after more failures than kFailuresForgiven
    hooks_failed: 0,
    assertions: 0, // that were made while a test or its hooks ran
    outside_failed: 0, // assertions that failed outside of every test, or after their test had ended
    swallowed: 0, // tests that passed although an assertion in them had failed
    unasserted: 0, // tests that passed without an assertion
    unawaited: 0, // tests that returned what bun does not wait for: a generator, a thenable
    abandoned: 0, // attempts that bun ended before they did: out of time
    expected_failures: 0, // uses of test.failing
    tampered: 0, // tries to replace what tests are made of
  };
  // Of those the first few by name: kind and title, one to a line.
  const kNamesMax = 5;
  const kTitleMax = 800; // longer ones are not cut, for a cut could leave half a secret, which nobody would recognise
  let names = "";
  let named = 0;
  const name = (kind, title) => {
    if (named++ < kNamesMax) names += kind + "." + text(named) + "=" + title + "\n";
  };

  // With `retry: 2`, the customary value, a test may fail twice before it passes.
  const kFailuresForgiven = 2;
  // An assertion that failed is forgiven when the same place, called from the same place or by the event loop, passes
  // in a later turn and wants the same: that is polling. A package may look again in the same turn, whenever the
  // document changes, but not before all that runs has ended: that is a loop over cases.

  const printable = (value) => {
    if (typeof value === "function") {
      const own = valueAt(value, "name");
      value = typeof own === "string" ? own : "";
    }
    if (typeof value !== "string") value = typeof value === "number" ? text(value) : "(no title)";
    if (value.length > kTitleMax) return "(a title of " + text(value.length) + " characters)";
    let line = "";
    for (let i = 0; i < value.length; ++i) line += apply(charCodeAt, value, [i]) < 32 ? " " : value[i];
    return line;
  };

  let tamperedWith = "";
  const tampered = (what) => {
    if (count.tampered++ === 0) tamperedWith = what;
    return new TypeErrorHere("guard: " + what + " can't be replaced where test results are to be believed");
  };

  // ---- builtin modules ---------------------------------------------------------------------------------------------

  const valueAt = (object, key) => {
    const found = getOwnPropertyDescriptor(object, key);
    return found !== undefined && apply(hasOwn, found, ["value"]) ? found.value : undefined;
  };
  // What builtin modules and matchers ask of the language.
  const language = [];
  const expressions = RegExp.prototype;
  const { hasInstance } = Symbol;
  const functions = Function.prototype;
  const { includes } = String.prototype;
  const keep = (object, keys) => {
    for (let i = 0; i < keys.length; ++i) {
      language[language.length] = { __proto__: null, object, key: keys[i], value: object[keys[i]] };
    }
  };
  for (const made of [[], new Map(), new Set()]) {
    keep(getPrototypeOf(made), [Symbol.iterator]);
    keep(getPrototypeOf(made[Symbol.iterator]()), ["next"]);
  }
  keep(RegExp.prototype, ["exec", "test"]);
  keep(Bun, ["deepEquals"]);
  const kLookedAt = language.length; // at every assertion that may ask for them
  // The modules are JavaScript, and keep what they find when they are loaded: late ones are to find the language as it
  // was.
  keep(Object, [
    "is", "keys", "values", "entries", "assign", "freeze", "create", "defineProperty", "defineProperties",
    "getOwnPropertyDescriptor", "getOwnPropertyNames", "getOwnPropertySymbols", "getPrototypeOf", "setPrototypeOf",
  ]);
  keep(Object.prototype, ["isPrototypeOf", "hasOwnProperty", "propertyIsEnumerable", "toString"]);
  keep(Array, ["isArray", "from"]);
  keep(Array.prototype, ["indexOf", "includes", "join", "push", "pop", "slice", "concat", "map", "filter", "forEach"]);
  keep(String.prototype, ["indexOf", "includes", "slice", "split", "startsWith", "endsWith", "replace", "match"]);
  keep(Map.prototype, ["get", "set", "has"]);
  keep(Set.prototype, ["add", "has"]);
  keep(Number, ["isNaN"]);
  keep(Error, ["captureStackTrace"]);
  const lookAtLanguage = (size) => {
    for (let i = 0; i < size; ++i) {
      const { object, key, value } = language[i];
      if (valueAt(object, key) !== value) throw tampered("the language's own functions");
    }
  };
  // Matchers ask a class for what it says of its instances, and of its message: the language's own say nothing.
  const { toString: sourceOf } = Function.prototype;
  const lookAtWanted = (wanted) => {
    const isExpression = isObject(wanted) && getOwnPropertyDescriptor(wanted, "lastIndex") !== undefined;
    const isOwn = (key) => apply(hasOwn, wanted, [key]);
    if (isExpression && (getPrototypeOf(wanted) !== expressions || isOwn("test") || isOwn("exec"))) {
      throw tampered("a regular expression");
    }
    if (typeof wanted !== "function") return;
    for (let at = wanted; at !== null; at = getPrototypeOf(at)) {
      const isAsked = getOwnPropertyDescriptor(at, hasInstance) !== undefined && at !== functions;
      if (!isAsked && getOwnPropertyDescriptor(at, "message") === undefined) continue;
      if (typeof at !== "function" || apply(includes, apply(sourceOf, at, []), ["[native code]"])) {
        throw tampered("the language's own classes");
      }
    }
  };
  const loadBuiltin = (name) => {
    lookAtLanguage(language.length);
    return apply(builtinModule, process, [name]);
  };

  // ---- attempts: one call of a test's function, or of a hook -------------------------------------------------------

  // The attempts that run now, in a ring; `outside` stands for everything else, `late` for what those that are over
  // still do.
  const attempt = (test) => ({
    __proto__: null, test, over: false, assertions: 0, matchers: 0, asked: 0, wanted: -1, open: null, failed: 0,
    before: null, after: null,
  });
  const outside = attempt(null);
  const late = attempt(null);
  outside.before = outside.after = outside;
  // Assertions of hooks since the last test ended, and of those the ones by expect.
  let inHooks = 0;
  let matchersInHooks = 0;
  let askedInHooks = 0;
  let lastTest = null;
  // With several at once (test.concurrent) the engine keeps which one a callback belongs to: not the attempt, but a
  // token, for its functions are JavaScript, and foreign code may see what they hold. Begun with the second: the first
  // of them is the one that nothing was kept of.
  let runIn = null;
  let storeOf = null;
  let unkept = null;
  let keepIn = null;
  let keptIn = null;
  const attemptOf = new WeakMap();
  const weakGet = WeakMap.prototype.get;
  const weakSet = WeakMap.prototype.set;
  const loadStorage = () => {
    const module = loadBuiltin("node:async_hooks");
    if (keepIn !== null) return module;
    const storage = new module.AsyncLocalStorage();
    const { run, getStore } = storage;
    keepIn = (one, fn) => {
      const token = freeze({ __proto__: null });
      apply(weakSet, attemptOf, [token, one]);
      return apply(run, storage, [token, fn]);
    };
    keptIn = () => {
      const token = apply(getStore, storage, []);
      return token === undefined ? undefined : apply(weakGet, attemptOf, [token]) ?? outside;
    };
    return module;
  };
  const keepApart = () => {
    loadStorage();
    unkept = outside.after;
    runIn = keepIn;
    storeOf = keptIn;
  };
  const begin = (test) => {
    endLast();
    if (runIn === null && outside.after !== outside) keepApart();
    const one = attempt(test);
    one.before = outside.before;
    one.after = outside;
    one.before.after = outside.before = one;
    return one;
  };
  // What is nobody's failure is looked at when all have ended.
  const current = () => {
    const kept = storeOf === null ? undefined : storeOf();
    if (kept !== undefined) return kept;
    if (outside.after === outside.before) return outside.after;
    return unkept !== null && !unkept.over ? unkept : outside;
  };

  // An assertion counts as failed from before it is made until it has passed: whatever ends the code in between, a full
  // stack or a getter of the tests, it leaves a failure behind. So no function is called between the link and the
  // counting.
  const pending = { __proto__: null }; // in place of its error
  const settled = defineProperty((async () => {})(), "constructor", { __proto__: null, value: undefined });
  let assertionsSeen = 0;
  const asserted = (matcher, negated, wanted, counts = true) => {
    const one = current();
    const what = {
      __proto__: null, error: pending, matcher, negated, wanted, number: ++assertionsSeen, inMatcher: false, place: "",
      from: "", isOver: false, decided: 0, home: one.over ? late : one, linked: false, before: null, after: null,
    };
    link(what);
    if (counts && one !== outside && !one.over) {
      ++count.assertions;
      ++one.assertions;
      if (one.test === null) ++inHooks;
    }
    return what;
  };
  const link = (what) => {
    const { home } = what;
    what.before = null;
    what.after = home.open;
    if (what.after !== null) what.after.before = what;
    home.open = what;
    what.linked = true;
  };
  const settle = (what) => {
    if (!what.linked) return;
    what.linked = false; // its own links stay: somebody may be walking over it
    if (what.before === null) what.home.open = what.after;
    else what.before.after = what.after;
    if (what.after !== null) what.after.before = what.before;
  };

  // ---- where code was called from ----------------------------------------------------------------------------------

  // Names are what foreign code says; files, lines and columns are the engine's. null where foreign code has fixed how
  // stacks are made.
  const kFrames = 24;
  const isAssignable = (key) => {
    const found = getOwnPropertyDescriptor(ErrorHere, key);
    return found !== undefined && apply(hasOwn, found, ["writable"]) && found.writable;
  };
  const callSites = (limit) => {
    if (!isAssignable("prepareStackTrace") || !isAssignable("stackTraceLimit")) return null;
    const { prepareStackTrace, stackTraceLimit } = ErrorHere;
    let found = null;
    ErrorHere.stackTraceLimit = limit;
    const error = new ErrorHere();
    ErrorHere.stackTraceLimit = stackTraceLimit;
    ErrorHere.prepareStackTrace = (asked, sites) => {
      if (asked === error) found = sites;
    };
    error.stack;
    ErrorHere.prepareStackTrace = prepareStackTrace;
    return isArray(found) ? found : null;
  };
  const [firstSite] = callSites(1); // one alone: bun would look for source maps of the others
  const { getFileName, getFunctionName, getLineNumber, getColumnNumber, isEval, isNative } = getPrototypeOf(firstSite);
  const here = apply(getFileName, firstSite, []);
  // Calls a matcher of others. A frame of its own says so.
  let matchersAsked = 0;
  const matcherOfOthers = (fn, self, given) => {
    const result = apply(fn, self, given);
    ++matchersAsked; // or this would be a tail call
    return result;
  };
  // The nearest place outside of this file, the one that called it (empty: the event loop did, also one that a matcher
  // runs while it waits for a promise), whether a matcher of others called them, and whether a package's code lies
  // below.
  const callers = () => {
    const found = { __proto__: null, place: "", from: "", inPackage: false, inMatcher: false };
    const sites = callSites(kFrames);
    for (let i = 0, places = 0; sites !== null && i < sites.length; ++i) {
      const file = apply(getFileName, sites[i], []);
      if (file === here) {
        if (places === 0) continue;
        found.inMatcher = apply(getFunctionName, sites[i], []) === matcherOfOthers.name;
        break;
      }
      if (apply(isNative, sites[i], [])) continue; // forEach, say
      const isFile = typeof file === "string" && !apply(isEval, sites[i], []);
      if (isFile && (startsWithText(file, "/app/node_modules/") || startsWithText(file, "/modules/"))) {
        found.inPackage = true;
      }
      const at = text(apply(getLineNumber, sites[i], [])) + ":" + text(apply(getColumnNumber, sites[i], []));
      const place = text(file) + ":" + at;
      if (++places === 1) found.place = place;
      else if (places === 2) found.from = place;
    }
    return found;
  };

  const assertionFailed = (what, error) => {
    if (!what.linked) { // it was waited for
      if (what.home.over) what.home = late;
      link(what);
    }
    what.error = error;
    what.decided = ++assertionsSeen;
    ++what.home.failed;
    if (sealed) apply(endProcess, process, [1]); // too late to be said
    const { place, from, inPackage, inMatcher } = callers();
    what.inMatcher = inMatcher;
    what.place = place;
    what.from = from;
    if (inPackage) apply(then, settled, [() => (what.isOver = true)]);
    else immediate(() => (what.isOver = true));
  };
  // Drops the failures that `is` holds for, the newest first. It may call foreign code.
  const forgive = (one, is) => {
    for (let what = one.open; what !== null; what = what.after) if (what.error !== pending && is(what)) settle(what);
  };
  const isSame = (what, place, from, { matcher, negated, wanted }) =>
    what.isOver && what.matcher === matcher && what.negated === negated && place !== "" && what.place === place &&
    (from === "" || what.from === from) && same(what.wanted, wanted, true);
  const assertionPassed = (passed, sees) => {
    settle(passed);
    const one = passed.home;
    if (one === late || one.open === null || one.failed === 0) return; // the number may be too high
    if (sees !== null) forgive(one, (what) => sees(what, passed.number));
    if (one.open === null) return;
    const { place, from } = callers();
    forgive(one, (what) => isSame(what, place, from, passed));
  };

  // A test with what has come of its attempts.
  const newTest = (title, retry, repeats) => ({
    __proto__: null, title: printable(title), retry, repeats, begun: false, attempts: 0, failures: 0, passed: false,
    assertions: 0, undecided: 0, next: null,
  });
  const ofNoTest = newTest("(a hook)", 0, 0);
  let tests = null;
  let ended = 0; // attempts
  let ends = 0; // as bun sees it: calls of the last afterEach

  const kSome = -2;
  const unknown = { __proto__: null };
  const isError = (value) => value !== undefined && value !== null;
  // `reason`: what it failed with.
  const end = (one, failed, reason) => {
    if (one.over) return;
    one.over = true;
    // expect.assertions() and hasAssertions(), as bun asks behind this.
    if (one.wanted >= 0 && (one.matchers > one.wanted || one.matchers + matchersInHooks < one.wanted)) failed = true;
    if (one.wanted === kSome && one.matchers + matchersInHooks === 0) failed = true;
    one.before.after = one.after;
    one.after.before = one.before;
    // What has failed is swallowed, unless the attempt fails with it: it may be another one's that has ended up here.
    // What is still being asserted has to pass all the same.
    let swallowed = false;
    for (let what = one.open; what !== null; what = one.open) {
      one.open = what.after;
      what.linked = false;
      if (what.error !== pending) swallowed ||= !failed || (reason !== unknown && what.error !== reason);
      else {
        what.home = late;
        link(what);
      }
    }
    const { test } = one;
    if (swallowed) ++count.swallowed, name("swallowed", test === null ? "(a hook)" : test.title);
    if (test === null) {
      if (failed) ++count.hooks_failed;
      return;
    }
    ++ended;
    lastTest = test;
    test.passed = !failed;
    if (failed) {
      ++test.failures;
      ++count.failed_attempts;
      return;
    }
    test.assertions = one.assertions;
  };

  // An attempt that has not failed ends with the microtasks that it leaves, which bun runs before all else: their
  // assertions are its own.
  let lastOne = null;
  const endLast = () => {
    const one = lastOne;
    lastOne = null;
    if (one !== null) end(one, false, undefined);
  };
  const endSoon = (one) => {
    endLast();
    lastOne = one;
  };

  // Waits for a promise as its reader does: what comes back rejects as the first one did, so nothing is handled that
  // was not.
  const ofNobody = { __proto__: null, value: undefined, configurable: true };
  const follow = (value, done) => {
    if (typeof value !== "object" || value === null) return null;
    try {
      // `then` asks the constructor what to make, which foreign code may have changed; where it is undefined, a
      // promise.
      if (getOwnPropertyDescriptor(value, "constructor") !== undefined) return null;
      defineProperty(value, "constructor", ofNobody);
      return apply(then, value, [
        (result) => {
          done(false);
          return result;
        },
        (error) => {
          done(true, error);
          throw error;
        },
      ]);
    } catch (error) {
      if (getPrototypeOf(error) === typeErrors) return null; // no promise
      throw error; // no room on the stack
    } finally {
      if (getOwnPropertyDescriptor(value, "constructor")?.value === undefined) delete value.constructor;
    }
  };

  // Of a promise that nobody else holds.
  const thenCall = (value, next) => {
    try {
      return apply(then, defineProperty(value, "constructor", ofNobody), [next]);
    } catch (error) {
      if (getPrototypeOf(error) === typeErrors) return null;
      throw error;
    }
  };

  const generators = [getPrototypeOf(function* () {}).prototype, getPrototypeOf(async function* () {}).prototype];
  const isUnawaited = (value) => {
    if (!isHolder(value)) return false;
    for (let at = value, depth = 0; at !== null && depth < 8; at = getPrototypeOf(at), ++depth) {
      if (at === generators[0] || at === generators[1]) return true;
    }
    try {
      return typeof value.then === "function";
    } catch {
      return true;
    }
  };

  // Where an attempt is not the last one, what it has failed with tells which failures are its own.
  const withReason = (one, fn) =>
    one.test === null || one.test.retry === 0
      ? fn
      : function () {
          try {
            return apply(fn, this, arguments);
          } catch (error) {
            end(one, true, error);
            throw error;
          }
        };
  // Calls a test's function or a hook, and ends the attempt when it ends.
  const call = (one, called, self, given, doneAt) => {
    const fn = withReason(one, called);
    // A test that takes `done` and returns a promise ends with the promise.
    let waitsForDone = false;
    let running = true;
    let isDone = false;
    let doneWith;
    let followed = null;
    if (doneAt >= 0 && given.length > doneAt && typeof given[doneAt] === "function") {
      const done = given[doneAt];
      waitsForDone = true;
      given[doneAt] = function (error) {
        if (!isDone) doneWith = error;
        isDone = true;
        if (!running && followed === null) end(one, isError(doneWith), doneWith);
        return apply(done, this, arguments);
      };
    }
    let value;
    let returned = false;
    try {
      value = runIn === null ? apply(fn, self, given) : runIn(one, () => apply(fn, self, given));
      returned = true;
    } finally {
      if (!returned) end(one, true, unknown); // not caught and thrown again: bun would show that place
    }
    running = false;
    followed = follow(value, (failed, error) => (failed ? end(one, true, error) : endSoon(one)));
    if (followed !== null) return followed;
    if (isUnawaited(value) || (typeof value === "function" && one.test !== null)) {
      ++count.unawaited;
      name("unawaited", one.test === null ? "(a hook)" : one.test.title);
    }
    if (isDone) end(one, isError(doneWith), doneWith);
    else if (!waitsForDone) endSoon(one);
    return value;
  };

  const listOf = (values) => {
    const list = [];
    for (let i = 0; i < values.length; ++i) {
      const value = values[i];
      defineProperty(list, i, { __proto__: null, value, writable: true, enumerable: true, configurable: true });
    }
    return list;
  };

  // bun asks the function's length whether it takes `done`.
  const withLength = (fn, length) =>
    defineProperty(fn, "length", { __proto__: null, value: length, configurable: true });

  // `rows`: of test.each; a test function that takes more than a row gets `done` behind it.
  const testFunction = (fn, make, rows) => {
    const length = fn.length;
    const ofRow = { __proto__: null };
    return withLength(function () {
      refuseWhenSealed();
      // Rows share the function. Equal ones come one after another, each with all its attempts.
      const row = rows ? rowOf(rows, arguments) : 0;
      let test = ofRow[row];
      const isDone = test !== undefined && rows && test.attempts > (test.passed ? test.repeats : test.retry);
      if (test === undefined || isDone) test = ofRow[row] = make();
      if (!test.begun) {
        test.begun = true;
        test.next = tests;
        tests = test;
      }
      ++count.attempts;
      ++test.attempts;
      const given = listOf(arguments);
      let doneAt = length > 0 && arguments.length === length ? length - 1 : -1;
      if (doneAt >= 0 && rows && isLastOfRow(rows, given[doneAt])) doneAt = -1;
      return call(begin(test), fn, this, given, doneAt);
    }, length);
  };
  const rowOf = (rows, given) => {
    for (let i = 0; isArray(rows) && i < rows.length; ++i) {
      const row = rows[i];
      let same = !isArray(row) || row.length <= given.length;
      for (let j = 0; same && j < (isArray(row) ? row.length : 1); ++j) {
        same = sameValue(isArray(row) ? row[j] : row, given[j]);
      }
      if (same) return i;
    }
    return -1;
  };
  const isLastOfRow = (rows, value) => {
    if (!isArray(rows)) return false;
    for (let i = 0; i < rows.length; ++i) {
      const row = rows[i];
      if (row === value || (isArray(row) && row[row.length - 1] === value)) return true;
    }
    return false;
  };
  // What a group leaves that bun does not wait for has declared nothing.
  const groupFunction = (fn, title) =>
    withLength(function () {
      const value = apply(fn, this, arguments);
      const followed = follow(value, () => {});
      if (followed === null && isUnawaited(value)) ++count.unawaited, name("unawaited", printable(title));
      return followed ?? value;
    }, fn.length);
  const hookFunction = (fn) => {
    const length = fn.length;
    return withLength(function () {
      refuseWhenSealed();
      const given = listOf(arguments);
      return call(begin(null), fn, this, given, length > 0 ? 0 : -1);
    }, length);
  };

  // ---- stand-ins of test, describe and hooks -----------------------------------------------------------------------

  // Objects that no spy may touch.
  const closed = new WeakSet();
  const close = (object) => {
    apply(weakAdd, closed, [object]);
    return freeze(object);
  };
  const like = (stand, original) => {
    for (const key of ["name", "length"]) {
      defineProperty(stand, key, getOwnPropertyDescriptor(original, key) ?? { value: "", configurable: true });
    }
    return stand;
  };
  let sealed = false;
  const refuseWhenSealed = () => {
    if (sealed) throw new TypeErrorHere("guard: all tests have ended");
  };

  const numberOf = (value) => (typeof value === "number" && value > 0 ? value : 0);
  // Options are read once: what bun gets is what was counted with.
  const plainOptions = (options) => {
    if (typeof options !== "object" || options === null) return options;
    const { timeout, retry, repeats } = options;
    const plain = {};
    if (timeout !== undefined) plain.timeout = timeout;
    if (retry !== undefined) plain.retry = retry;
    if (repeats !== undefined) plain.repeats = repeats;
    return plain;
  };
  // (title, fn, options) or (title, options, fn).
  const declare = (native, self, given, counts, rows) => {
    refuseWhenSealed();
    const args = listOf(given);
    for (let i = 1; i < args.length; ++i) args[i] = plainOptions(args[i]);
    const isFunctionAt = (i) => typeof args[i] === "function";
    const at = isFunctionAt(1) ? 1 : isFunctionAt(2) ? 2 : isFunctionAt(0) ? 0 : -1; // 0: without a title
    if (at < 0) return apply(native, self, args);
    const options = args[at === 1 ? 2 : 1];
    const asked = typeof options === "object" && options !== null ? options : {};
    const title = at === 0 ? "" : args[0];
    if (isArray(rows) && rows.length === 0) ++count.unasserted, name("unasserted", title); // declares nothing
    const make = () => newTest(title, numberOf(asked.retry), numberOf(asked.repeats));
    args[at] = counts ? testFunction(args[at], make, rows) : groupFunction(args[at], title);
    try {
      return apply(native, self, args);
    } catch (error) {
      ++count.outside_failed; // what never runs, inside of a test
      throw error;
    }
  };

  // test, describe and what their chains make (test.skip.each(rows)): one prototype for all, which reads the original
  // from a private field. `counts`: of tests, not of groups.
  const chain = getPrototypeOf(table.test);
  class Scope extends function (stand) { return stand; } {
    #native;
    #counts;
    #rows;
    constructor(stand, native, counts, rows) {
      super(stand);
      this.#native = native;
      this.#counts = counts;
      this.#rows = rows;
    }
    static link(key, found, failing) {
      if (found.get) {
        return {
          get() {
            if (failing) ++count.expected_failures;
            // Under CI bun refuses .only as soon as it is mentioned. Who only hands it on (wrappers do) is refused when
            // it is called.
            let native;
            try {
              native = apply(found.get, this.#native, []);
            } catch (error) {
              return close(function () { throw error; });
            }
            return scope(native, this.#counts, this.#rows);
          },
          enumerable: true,
        };
      }
      return {
        value: function (argument) {
          if (failing) ++count.expected_failures;
          const given = listOf(arguments);
          // bun and this file read the same table, whatever a test does to its own.
          if (key === "each" && isArray(argument)) {
            const table = listOf(argument);
            for (let i = 0; i < table.length; ++i) if (isArray(table[i])) table[i] = listOf(table[i]);
            given[0] = table;
          }
          const made = apply(found.value, this.#native, given);
          return typeof made === "function" ? scope(made, this.#counts, key === "each" ? given[0] : this.#rows) : made;
        },
        enumerable: true,
      };
    }
  }
  const links = create(Function.prototype);
  for (const key of ownKeys(chain)) {
    if (typeof key !== "string" || key === "constructor") continue;
    const failing = key === "failing" || key === "failingIf";
    defineProperty(links, key, Scope.link(key, getOwnPropertyDescriptor(chain, key), failing));
  }
  close(links);
  const scope = (native, counts, rows) => {
    const stand = function (title, fn) {
      return declare(native, undefined, arguments, counts, rows);
    };
    new Scope(setPrototypeOf(stand, links), native, counts, rows);
    return close(like(stand, native));
  };
  const hook = (native) =>
    close(function (fn, options) {
      refuseWhenSealed();
      return native(typeof fn === "function" ? hookFunction(fn) : fn, plainOptions(options));
    });

  // ---- expect ------------------------------------------------------------------------------------------------------

  const nativeExpect = table.expect;
  const nativeMatchers = getPrototypeOf(nativeExpect(0));
  const isThrowing =
    namesOf(["toThrow", "toThrowError", "toThrowErrorMatchingSnapshot", "toThrowErrorMatchingInlineSnapshot"]);

  // One assertion. `sees`: which failures it asks for, so that those are not swallowed; null for none.
  const check = (native, self, given, sees, negated = false, wanted = given, counts = true) => {
    const what = asserted(native, negated, wanted, counts);
    let value;
    try {
      value = apply(native, self, given);
    } catch (error) {
      assertionFailed(what, error);
      throw error;
    }
    const test = what.home.test ?? ofNoTest;
    const followed = follow(value, (failed, error) => {
      if (failed) assertionFailed(what, error);
      else assertionPassed(what, sees);
      --test.undecided;
    });
    if (followed === null) {
      assertionPassed(what, sees);
      return value;
    }
    ++test.undecided;
    settle(what);
    return followed;
  };

  // The failure that a function or promise ends with, which is what toThrow and its like ask for. What else fails in it
  // is not.
  const ending = (value, seen) => {
    if (typeof value !== "function") {
      if (isObject(value)) {
        try {
          apply(then, value, [undefined, (error) => void (seen.error = error)]);
        } catch {
          // no promise
        }
      }
      return value;
    }
    return function () {
      let result;
      try {
        result = apply(value, this, arguments);
      } catch (error) {
        seen.error = error;
        throw error;
      }
      return (
        follow(result, (failed, error) => {
          if (failed) seen.error = error;
        }) ?? result
      );
    };
  };
  const nothingSeen = () => ({ __proto__: null, error: outside }); // that is no error of anybody's
  // Many may have failed with one error. What came out is the newest, and what was being asserted around it.
  const isAround = (what, last) => last === null || what.decided > last.decided;
  // What failed below the assertion and came out of it.
  const asEnded = (seen) => {
    let last = null;
    return (what, began) => {
      if (!isObject(what.error) || what.error !== seen.error || what.number <= began) return false;
      if (!isAround(what, last)) return false;
      last = what;
      return true;
    };
  };
  // The newest failure with the error that a promise was rejected with, which may have begun before; and what was
  // polled until it gave up with that.
  const asRejected = (reasonOf) => {
    let first = null;
    let last = null;
    return (what) => {
      if (isObject(what.error) && what.error === reasonOf() && isAround(what, last)) {
        first ??= what;
        last = what;
        return true;
      }
      return first !== null && isSame(what, first.place, first.from, first);
    };
  };
  // A matcher of others may ask with assertions whether something does not hold.
  const inMatcher = (what, began) => what.inMatcher && what.number > began;

  class Expectation {
    #native;
    #negated;
    #rejected;
    constructor(native, negated, rejected) {
      this.#native = native;
      this.#negated = negated;
      this.#rejected = rejected;
      freeze(this);
    }
    static {
      delete this.prototype.constructor;
    }
    static take(object, key, native, given, custom) {
      const one = current();
      ++one.matchers;
      if (one.test === null) ++matchersInHooks;
      const rejected = object.#rejected;
      const negated = object.#negated;
      if (rejected !== null) {
        return check(native, object.#native, given, asRejected(() => peek(rejected.promise)), negated);
      }
      if (custom) return check(native, object.#native, given, negated ? inMatcher : null, negated);
      if (isThrowing[key] === true || key === "toBeInstanceOf") {
        lookAtLanguage(kLookedAt); // by a regular expression
        lookAtWanted(given[0]);
      }
      const value = isThrowing[key] === true && !negated ? apply(weakGet, values, [object]) : undefined;
      if (typeof value !== "function") return check(native, object.#native, given, null, negated);
      const seen = nothingSeen();
      return check(native, apply(nativeExpect, undefined, [ending(value, seen)]), given, asEnded(seen));
    }
    static turn(object, get, negates, rejected) {
      return new Expectation(apply(get, object.#native, []), object.#negated !== negates, rejected ?? object.#rejected);
    }
  }
  const { take, turn } = Expectation;
  // bun's matchers come first, and are made when they are asked for the first time: there are ninety, and a test uses
  // three. Those of others lie behind them.
  const others = {};
  const builtIn = { __proto__: null };
  const builtInStatic = { __proto__: null };
  const made = { __proto__: null };
  const matcherOf = (key, native, custom) => ({ [key]() { return take(this, key, native, arguments, custom); } })[key];
  // Where others bring one of a name that bun has, both have to hold.
  const bothMatchers = (key, native) => ({
    [key]() {
      const first = take(this, key, native, arguments, true);
      const second = () => {
        askedAgain();
        return take(this, key, nativeOf[key], arguments, false);
      };
      return thenCall(first, second) ?? second();
    },
  })[key];
  const refuse = () => false;
  const matchers = new Proxy(others, {
    get: (target, key) => {
      if (typeof key !== "string" || nativeOf[key] === undefined) return target[key];
      return (made[key] ??= matcherOf(key, nativeOf[key], false));
    },
    has: (target, key) => (typeof key === "string" && nativeOf[key] !== undefined) || key in target,
    set: refuse,
    defineProperty: refuse,
    deleteProperty: refuse,
    setPrototypeOf: refuse,
    preventExtensions: refuse,
  });
  // What `expect(value).rejects` was given, to know the reason when the matcher has passed.
  const values = new WeakMap();
  const nativeOf = { __proto__: null };
  for (const key of ownKeys(nativeMatchers)) {
    if (typeof key !== "string" || key === "constructor") continue;
    builtIn[key] = true;
    const found = getOwnPropertyDescriptor(nativeMatchers, key);
    if (!found.get) {
      nativeOf[key] = found.value;
      continue;
    }
    const get = function () {
      const rejected = key === "rejects" ? { __proto__: null, promise: apply(weakGet, values, [this]) } : null;
      return turn(this, found.get, key === "not", rejected);
    };
    defineProperty(Expectation.prototype, key, { get, enumerable: true });
  }
  const expect = function (value) {
    const expectation = new Expectation(apply(nativeExpect, undefined, arguments), false, null);
    apply(weakSet, values, [expectation, value]);
    return expectation;
  };
  // Asymmetric matchers: their statics, and those below expect.not.
  const addStatic = (stand, native, key, configurable) => {
    const original = native[key];
    if (typeof original !== "function") return;
    const one = { [key](wanted) {
      if (key === "any") lookAtWanted(wanted);
      return apply(original, native, arguments);
    } };
    defineProperty(stand, key, { __proto__: null, value: one[key], enumerable: true, configurable });
  };
  const replacedHere =
    namesOf(["extend", "not", "unreachable", "resolvesTo", "rejectsTo", "assertions", "hasAssertions"]);
  const ofEveryFunction = namesOf(["prototype", "length", "name", "constructor"]);
  const addStatics = (stand, native, keys) => {
    for (let i = 0; i < keys.length; ++i) {
      const key = keys[i];
      if (typeof key !== "string" || ofEveryFunction[key]) continue;
      builtInStatic[key] = true;
      if (!replacedHere[key]) addStatic(stand, native, key, false);
    }
  };
  const negated = nativeExpect.not;
  const not = {};
  addStatics(not, negated, ownKeys(getPrototypeOf(negated)));
  addStatics(expect, nativeExpect, ownKeys(nativeExpect));
  for (const key of ["resolvesTo", "rejectsTo"]) {
    const native = nativeExpect[key];
    if (typeof native !== "object" || native === null) continue;
    const stand = {};
    addStatics(stand, native, ownKeys(getPrototypeOf(native)));
    defineProperty(expect, key, { value: close(stand), enumerable: true });
  }
  defineProperty(expect, "not", { value: not, enumerable: true });
  for (const key of ["assertions", "hasAssertions"]) {
    const native = nativeExpect[key];
    const one = { [key](number) {
      const now = current();
      const given = typeof number === "number" ? [number + now.asked + askedInHooks] : arguments;
      const value = apply(native, nativeExpect, given);
      if (now.test !== null) now.wanted = key === "assertions" ? number : kSome;
      return value;
    } };
    defineProperty(expect, key, { value: one[key], enumerable: true });
  }
  // bun counts one matcher more than the test has called.
  const { assertions: nativeAssertions } = nativeExpect;
  const askedAgain = () => {
    const one = current();
    --one.matchers;
    ++one.asked;
    if (one.test === null) --matchersInHooks, ++askedInHooks;
    else if (one.wanted >= 0) apply(nativeAssertions, nativeExpect, [one.wanted + one.asked + askedInHooks]);
  };
  const unreachable = nativeExpect.unreachable;
  const unreached = function unreached() { return check(unreachable, nativeExpect, arguments, null); };
  defineProperty(expect, "unreachable", { value: unreached, enumerable: true });

  // What bun gives to matchers of others (equals, utils) is the same for all.
  const closeContext = (context) => {
    for (const object of [getPrototypeOf(context), context.utils]) {
      if (typeof object === "object" && object !== null && !apply(weakHas, closed, [object])) close(object);
    }
  };
  // Matchers of others may be added, and libraries do, also some that bun has; below an asymmetric matcher, where bun
  // has none of the name, theirs is the one.
  const nativeExtend = nativeExpect.extend;
  const notAMatcher = namesOf(["__proto__", "prototype", "constructor"]);
  defineProperty(expect, "extend", {
    value: function extend(added) {
        if (!isHolder(added)) return apply(nativeExtend, nativeExpect, [added]);
        const taken = create(null);
        const keys = ownKeys(added);
        for (let i = 0; i < keys.length; ++i) {
          const key = keys[i];
          if (typeof key !== "string" || notAMatcher[key] || builtInStatic[key]) continue;
          const value = added[key];
          if (typeof value !== "function") continue;
          taken[key] = like(function () {
            closeContext(this);
            return matcherOfOthers(value, this, arguments);
          }, value);
          defineProperty(taken[key], "name", { __proto__: null, value: key, configurable: true });
        }
        apply(nativeExtend, nativeExpect, [taken]);
        const names = ownKeys(taken);
        for (let i = 0; i < names.length; ++i) {
          const key = names[i];
          const native = nativeMatchers[key];
          if (typeof native !== "function") continue;
          if (builtIn[key]) made[key] = bothMatchers(key, native);
          else others[key] = matcherOf(key, native, true);
          addStatic(expect, nativeExpect, key, true);
          addStatic(not, negated, key, true);
        }
    },
    enumerable: true,
  });
  apply(weakAdd, closed, [matchers]);
  close(setPrototypeOf(Expectation.prototype, matchers));
  for (const object of [others, expect, not, expect.extend]) apply(weakAdd, closed, [object]);

  // ---- spies and mocks ---------------------------------------------------------------------------------------------

  // spyOn replaces properties that are neither configurable nor writable.
  const nativeSpyOn = table.spyOn;
  const holdsClosed = (object, key) => {
    for (let at = object; at !== null; at = getPrototypeOf(at)) {
      if (apply(weakHas, closed, [at])) return true;
      const found = getOwnPropertyDescriptor(at, key);
      if (found !== undefined) return isHolder(found.value) && apply(weakHas, closed, [found.value]);
    }
    return false;
  };
  const spyOn = close(function spyOn(object, name, access) {
      // It may be another one when asked again.
      const key = typeof name === "string" || typeof name === "symbol" ? name : text(name);
      if (isHolder(object) && holdsClosed(object, key)) throw tampered("what tests are made of");
      return access === undefined ? nativeSpyOn(object, key) : nativeSpyOn(object, key, access);
  });
  const kNamespace = "guard"; // of the modules that are handed out
  const closedModules = namesOf(["bun:test", "assert", "node:assert", "assert/strict", "node:assert/strict"]);
  const isClosedModule = (specifier) =>
    closedModules[specifier] === true || startsWithText(specifier, kNamespace + ":");
  const guarded = (original) =>
    close(function module(specifier, factory) {
        const wanted = typeof specifier === "string" ? specifier : text(specifier);
        if (isClosedModule(wanted)) throw tampered(wanted);
        // A tail call: bun resolves a relative name from the file of its caller, and this function must not be that.
        return original(wanted, factory);
    });
  const put = (object, key, value) => {
    const kept = getOwnPropertyDescriptor(object, key)?.configurable === false;
    const fixed = { value, writable: false };
    return defineProperty(object, key, kept ? fixed : { ...fixed, enumerable: true, configurable: false });
  };
  const mockModule = mock.module;
  put(mock, "module", guarded(mockModule));
  for (const object of [jest, vi]) {
    put(object, "spyOn", spyOn);
    if (typeof object.mock === "function") put(object, "mock", guarded(object.mock));
    if (typeof object.module === "function") put(object, "module", guarded(object.module));
    const { useFakeTimers } = object;
    put(object, "useFakeTimers", function () {
      if (draining) throw tampered("time");
      return apply(useFakeTimers, this, arguments);
    });
    apply(weakAdd, closed, [object]);
  }
  apply(weakAdd, closed, [mock]);

  // ---- node:assert -------------------------------------------------------------------------------------------------

  // Its own objects are changed, for there are many ways to them (require, process.getBuiltinModule, node:test), and
  // mocked, for a module's function itself can't be changed. `strict` is another object with other functions.
  const notAnAssertion = namesOf(["AssertionError", "Assert", "CallTracker", "strict", "constructor"]);
  // The first is what was seen, and may change.
  const behindFirst = (values) => {
    const list = listOf(values);
    if (list.length > 0) list[0] = undefined;
    return list;
  };
  const counted = (original, key) => {
    const stand = like(function () {
      lookAtLanguage(kLookedAt);
      for (let i = 1; i < arguments.length; ++i) lookAtWanted(arguments[i]);
      const wanted = behindFirst(arguments);
      if (key !== "throws" && key !== "rejects") return check(original, this, arguments, null, false, wanted);
      const given = listOf(arguments);
      const begun = given.length > 0 && typeof given[0] !== "function"; // a promise, which may have failed before
      const seen = nothingSeen();
      if (given.length > 0) given[0] = ending(given[0], seen);
      return check(original, this, given, begun ? asRejected(() => seen.error) : asEnded(seen), false, wanted);
    }, original);
    apply(weakAdd, closed, [stand]); // a module's namespace can be spied on
    return stand;
  };
  const wrapFunctions = (object, writable) => {
    const keys = ownKeys(object);
    for (let i = 0; i < keys.length; ++i) {
      const key = keys[i];
      const original = valueAt(object, key);
      if (typeof original !== "function" || typeof key !== "string" || notAnAssertion[key] === true) continue;
      const value = counted(matching[key]?.(original) ?? original, key);
      defineProperty(object, key, { __proto__: null, value, writable, enumerable: true, configurable: false });
    }
  };
  // node tells match and doesNotMatch apart by looking, once, whether it is called as Assert.prototype.match.
  let looksForMatch = false;
  const asMatching = (original) =>
    like(function () {
      looksForMatch = true;
      try {
        return apply(original, this, arguments);
      } finally {
        looksForMatch = false;
      }
    }, original);
  const matching = { __proto__: null, match: asMatching, doesNotMatch: asMatching };
  const wrapAssert = (prototype) => {
    const { match } = prototype;
    const value = counted(asMatching(match), "match");
    delete prototype.match;
    wrapFunctions(prototype, true); // its instances assign some of their own
    defineProperty(prototype, "match", {
      get() {
        const found = looksForMatch ? match : value;
        looksForMatch = false;
        return found;
      },
      enumerable: true,
    });
  };
  const wrapTracker = (object) => {
    const found = getOwnPropertyDescriptor(object, "CallTracker");
    if (found === undefined || found.get === undefined) return; // nothing in a later bun
    defineProperty(object, "CallTracker", {
      get() {
        const tracker = apply(found.get, object, []);
        const { prototype } = tracker;
        const verify = getOwnPropertyDescriptor(prototype, "verify");
        if (verify.writable) {
          const value = counted(verify.value, "verify");
          defineProperty(prototype, "verify", { __proto__: null, value, writable: false, configurable: false });
        }
        return tracker;
      },
      enumerable: true,
      configurable: false,
    });
  };
  const standFor = (native) => {
    const stand = counted(native, "ok");
    const module = { __proto__: null, default: stand, "module.exports": stand };
    const keys = ownKeys(native);
    for (let i = 0; i < keys.length; ++i) {
      const key = keys[i];
      if (key === "length" || key === "name" || key === "prototype" || key === "strict") continue;
      const found = getOwnPropertyDescriptor(native, key); // AssertionError is made when it is asked for
      const { enumerable } = found;
      const asked = { get: () => apply(found.get, native, []), enumerable };
      const one = found.get ? asked : { value: found.value, enumerable };
      defineProperty(stand, key, one);
      if (typeof key === "string") defineProperty(module, key, one);
    }
    apply(weakAdd, closed, [native]);
    return module;
  };
  let asserts = null;
  const loadAssert = () => {
    if (asserts !== null) return asserts;
    const loose = loadBuiltin("node:assert");
    const { strict } = loose;
    for (const object of [loose, strict]) {
      wrapFunctions(object, false);
      wrapTracker(object);
    }
    wrapAssert(loose.Assert.prototype);
    apply(weakAdd, closed, [loose.Assert.prototype]);
    asserts = { __proto__: null, assert: standFor(loose), "assert/strict": standFor(strict) };
    const stand = asserts["assert/strict"].default;
    asserts.assert.strict = asserts["assert/strict"].strict = stand;
    defineProperty(asserts.assert.default, "strict", { value: stand, enumerable: true });
    defineProperty(stand, "strict", { value: stand, enumerable: true });
    close(asserts.assert.default);
    close(stand);
    put(loose, "strict", stand);
    put(strict, "strict", stand);
    return asserts;
  };

  // ---- node:test ---------------------------------------------------------------------------------------------------

  // Its own tests skip, fail and end by rules which nothing here can see. So its names stand for those of bun:test, and
  // what has no equal there is refused; whoever goes on all the same has swallowed a failed assertion.
  let nodeTest = null;
  const nodeTestModule = () => {
    const { mock: nativeMock } = loadBuiltin("node:test");
    const refused = (what) => {
      const error = new TypeErrorHere("guard can't count " + what + " of node:test: use bun:test");
      assertionFailed(asserted(refused, false, undefined), error); // by a matcher that nobody has: it is never polled
      return error;
    };
    const members = (object, names, make) => {
      for (let i = 0; i < names.length; ++i) {
        defineProperty(object, names[i], { value: make(names[i]), enumerable: true });
      }
      return object;
    };
    const refusing = (what) => close(function () { throw refused(what); });
    const contextOf = (title) => {
      let tracker = null;
      const context = {
        name: title,
        fullName: title,
        assert: loadAssert().assert.default,
        diagnostic() {},
        after(fn) { table.onTestFinished(bodyOf(fn, title)); },
        get mock() {
          if (tracker === null) {
            tracker = new nativeMock.constructor();
            table.onTestFinished(() => tracker.reset());
          }
          return tracker;
        },
      };
      const refusals = ["skip", "todo", "plan", "before", "beforeEach", "afterEach", "runOnly", "waitFor"];
      members(members(context, ["test"], () => subtest), refusals, (name) => refusing("t." + name));
      return freeze(context);
    };
    // It is given a context, and `done` behind it where it takes two.
    const bodyOf = (fn, title) => {
      if (fn.length > 1) return (done) => apply(fn, undefined, [contextOf(title), done]);
      return () => apply(fn, undefined, [contextOf(title)]);
    };
    const taken = namesOf(["skip", "todo", "only", "timeout", "concurrency"]);
    const ofNothing = async () => {}; // awaited by some, and resolved, as bun's is
    // (title, options, fn), each of them or not.
    const declared = (given, taken) => {
      let title, fn, options = {};
      for (let i = 0; i < given.length && i < 3; ++i) {
        if (typeof given[i] === "function") fn = given[i];
        else if (typeof given[i] === "string") title = given[i];
        else if (isObject(given[i])) options = given[i];
      }
      const keys = ownKeys(options);
      for (let i = 0; i < keys.length; ++i) {
        if (taken[keys[i]] !== true && options[keys[i]] !== undefined) throw refused("the option " + text(keys[i]));
      }
      const { skip, todo, timeout } = options;
      title ??= (fn && fn.name) || "<anonymous>";
      return { __proto__: null, title, fn: fn ?? (() => {}), skip, todo, timeout };
    };
    // A part of the test that runs. It is pending like an assertion until it has passed, and counts as none. Where it
    // fails, what it returns is rejected (bun's resolves, and lets the test fail later).
    const subtest = close(function () {
      const { title, fn, skip } = declared(arguments, { __proto__: null, skip: true });
      if (skip) return ofNothing();
      if (fn.length > 1) throw refused("a subtest with a callback");
      return check(async () => {
        const value = apply(fn, undefined, [contextOf(title)]);
        const followed = follow(value, () => {});
        if (followed === null && isUnawaited(value)) throw refused("a subtest that returns what nobody waits for");
        return followed ?? value;
      }, undefined, [], null, false, undefined, false);
    });
    const declaring = (kind, mode) =>
      close(function () {
        const { title, fn, skip, todo, timeout } = declared(arguments, taken);
        if (kind === "describe" && numberOf(timeout) > 0) throw refused("the timeout of a group");
        const declare = table[kind];
        const skips = mode === "skip" || skip;
        const how = skips ? declare.skip : mode === "todo" || todo ? declare.todo : declare;
        const group = () => (skips ? undefined : apply(fn, undefined, [freeze({ name: title })]));
        how(title, kind === "test" ? bodyOf(fn, title) : group, timeoutOf(timeout));
        return ofNothing();
      });
    const kinds = (kind) => {
      const stand = function () { return apply(plain, undefined, arguments); };
      const plain = declaring(kind, null);
      return members(members(stand, ["skip", "todo"], (mode) => declaring(kind, mode)), ["only"], () => plain);
    };
    const test = kinds("test");
    const describe = close(kinds("describe"));
    const hooks =
      { __proto__: null, before: "beforeAll", after: "afterAll", beforeEach: "beforeEach", afterEach: "afterEach" };
    const timeoutOf = (timeout) => (numberOf(timeout) > 0 ? { timeout } : undefined);
    const hookOf = (name) =>
      close((fn, options) => table[hooks[name]](bodyOf(fn, name), timeoutOf(options?.timeout)));
    members(test, ["test", "it"], () => test);
    members(test, ["describe", "suite"], () => describe);
    members(test, ownKeys(hooks), hookOf);
    members(test, ["mock"], () => nativeMock);
    members(test, ["run", "snapshot"], (name) => refusing(name));
    close(test);
    const module = { __proto__: null, default: test, "module.exports": test };
    const names = ownKeys(test);
    for (let i = 0; i < names.length; ++i) {
      if (!ofEveryFunction[names[i]]) defineProperty(module, names[i], { value: test[names[i]], enumerable: true });
    }
    return module;
  };

  // ---- modules that are handed out by this file --------------------------------------------------------------------

  // The engine hands out what it holds, this file's functions too; a debugger reads and writes every variable.
  const closeMembers = (object, names) => {
    for (let i = 0; i < names.length; ++i) {
      if (typeof object[names[i]] !== "function") continue;
      put(object, names[i], function () {
        throw tampered(names[i]);
      });
    }
    return object;
  };
  // A bare name that is computed, or in a file that bun does not translate, leads past all of these: then the modules
  // are made what they are to be before anybody has them. guard has looked whether there is such an import
  // (pipeline/run/staging.h).
  if (process.env.GUARD_IMPORTS_BY_NAME !== undefined) {
    delete process.env.GUARD_IMPORTS_BY_NAME;
    loadAssert();
    loadStorage();
  }
  closeMembers(jsc, ["getProtectedObjects", "startRemoteDebugger"]);
  const exportsOf = (module) => ({ __proto__: null, ...module, default: module, "module.exports": module });
  const inspectorModule = (name) => {
    closeMembers(loadBuiltin("node:inspector"), ["open", "waitForDebugger"]);
    return exportsOf(loadBuiltin("node:" + name));
  };
  // Made when they are asked for the first time.
  const makers = {
    __proto__: null,
    assert: () => loadAssert().assert,
    "assert/strict": () => loadAssert()["assert/strict"],
    async_hooks: () => exportsOf(loadStorage()),
    inspector: () => inspectorModule("inspector"),
    "inspector/promises": () => inspectorModule("inspector/promises"),
    test: () => (nodeTest ??= nodeTestModule()),
  };
  // There are four ways to a module: by "node:" and by import of the bare name, by require of it, by process, and by
  // the loader. (A mock of bun's, were there one, would stand before the first and leave out require.)
  const handedOut = [];
  apply(Bun.plugin, Bun, [{
    name: kNamespace,
    setup(build) {
      const filter = /^(?:assert|assert\/strict|async_hooks|inspector|inspector\/promises|test)$/;
      build.onResolve({ filter, namespace: "node" }, ({ path }) => ({ path, namespace: kNamespace }));
      const exportsAt = ({ path }) => ({ exports: makers[path](), loader: "object" });
      build.onLoad({ filter: /./, namespace: kNamespace }, exportsAt);
    },
  }]);
  put(Bun.plugin, "clearAll", function () {
    throw tampered("the modules that tests are made of");
  });
  const handIn = (name, module) => {
    required[name] = module;
    handedOut[handedOut.length] = { __proto__: null, name, module };
  };
  for (const name of ["assert", "assert/strict", "async_hooks", "inspector", "inspector/promises"]) {
    const module = { __proto__: null, get exports() { return makers[name]()["module.exports"]; } };
    handIn(name, module);
    handIn(kNamespace + ":" + name, module);
  }
  handIn(kNamespace + ":test", { __proto__: null, get exports() { return makers.test()["module.exports"]; } });
  const handOut = (object, key, native) => {
    const value = like(function (id) {
      const given = listOf(arguments);
      given[0] = typeof id === "string" ? id : text(id);
      const name = startsWithText(given[0], "node:") ? apply(slice, given[0], [5]) : given[0];
      // There is no bare "test".
      if (makers[name] !== undefined && (name !== "test" || name !== given[0])) return makers[name]()["module.exports"];
      return apply(native, this, given);
    }, native);
    defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
  };
  handOut(process, "getBuiltinModule", builtinModule);
  const loader = apply(builtinModule, process, ["node:module"]);
  handOut(loader, "_load", loader._load);
  // Another realm's process would end this one with a code of its own.
  if (typeof ShadowRealm === "function") {
    put(globalThis, "ShadowRealm", function ShadowRealm() {
      throw tampered("the realm of the tests");
    });
  }

  // ---- the table that tests get their API from ---------------------------------------------------------------------

  // Imports of bun:test, the names that bun puts into test files by itself, require and Bun.jest() all read it.
  const isTest = namesOf(["test", "it", "xtest", "xit"]);
  const isHook = namesOf(["beforeAll", "beforeEach", "afterAll", "afterEach", "onTestFinished"]);
  for (const key of ownKeys(table)) {
    const native = table[key];
    if (typeof native !== "function") continue;
    if (key === "expect") table[key] = expect;
    else if (key === "spyOn") table[key] = spyOn;
    else if (getPrototypeOf(native) === chain) table[key] = scope(native, isTest[key] === true, null);
    else if (isHook[key]) table[key] = hook(native);
  }
  close(table);
  put(Bun, "jest", close(function jest() { return table; }));

  // ---- the end -----------------------------------------------------------------------------------------------------

  // Once the counts are said, nothing of the tests may end the process with a code of its own: bun does.
  for (const key of ["exit", "reallyExit", "execve", "abort"]) {
    const native = process[key];
    if (typeof native !== "function") continue;
    const value = like(function () {
      refuseWhenSealed();
      return apply(native, process, arguments);
    }, native);
    defineProperty(process, key, { value, writable: true, enumerable: true, configurable: true });
  }

  // Whoever took a property's place in spite of all that was done against it is seen here, after every test.
  const watched = [];
  const watch = (object, keys) => {
    for (let i = 0; i < keys.length; ++i) watched[watched.length] = { object, key: keys[i], value: object[keys[i]] };
  };
  watch(table, ownKeys(table));
  watch(Bun, ["jest"]);
  watch(mock, ["module"]);
  watch(jest, ["spyOn", "mock"]);
  watch(vi, ["spyOn", "mock"]);
  watch(expect, ["extend", "any", "not", "assertions"]);
  const look = () => {
    for (let i = 0; i < watched.length; ++i) {
      const { object, key, value } = watched[i];
      if (object[key] !== value) tampered(text(key));
    }
    for (let i = 0; i < handedOut.length; ++i) {
      const { name, module } = handedOut[i];
      if (required[name] !== module) tampered(name);
    }
  };

  // bun has ended one more attempt. One of ours that has not is a test that ran out of time.
  afterEach(() => {
    endLast();
    look();
    if (lastTest !== null) lastTest.assertions += inHooks;
    inHooks = matchersInHooks = askedInHooks = 0;
    if (ended < ++ends) {
      ++ended;
      ++count.abandoned;
    }
  });

  // What a test has set going and not waited for ends now, or after kDrainMs, work that the engine
  // does by itself after kWorkMs: the engine holds what it will call, be it a timer's, a
  // child's, a file's or a request's. Not waited for is what stood there before the first test and goes on: servers,
  // intervals.
  const kDrainMs = 250;
  const kWorkMs = 1000;
  const kDrainStepMs = 5;
  const kTurns = 8; // of the event loop, for what the engine does not hold: messages
  const standing = new WeakSet();
  const oneTimer = wait(() => {}, 0);
  const repeatOf = getOwnPropertyDescriptor(getPrototypeOf(oneTimer), "_repeat").get;
  clearTimer(oneTimer);
  const isOneTimer = (object) => {
    try {
      return apply(repeatOf, object, []) === null;
    } catch {
      return false; // no timer
    }
  };
  const isChild = (object) => {
    const prototype = getPrototypeOf(object);
    return prototype !== null && getOwnPropertyDescriptor(prototype, "exited") !== undefined;
  };
  beforeAll(() => {
    const all = held();
    for (let i = 0; i < all.length; ++i) {
      if (isOneTimer(all[i]) || status(all[i]) === "pending" || isChild(all[i])) continue;
      apply(weakAdd, standing, [all[i]]);
    }
  });
  // Not what WebCrypto and WebAssembly do: of that the promises are counted.
  let working = 0;
  const countPromises = (object) => {
    for (const key of ownKeys(object)) {
      const native = getOwnPropertyDescriptor(object, key).value;
      if (typeof native !== "function" || key === "constructor" || native.prototype !== undefined) continue;
      const value = like(function () {
        const promise = apply(native, this, arguments);
        const followed = follow(promise, () => --working);
        if (followed === null) return promise;
        ++working;
        return followed;
      }, native);
      defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
    }
  };
  countPromises(SubtleCrypto.prototype);
  countPromises(WebAssembly);
  const isPending = (waited) => {
    if (working > 0) return true;
    const all = held();
    for (let i = 0; i < all.length; ++i) {
      if (!apply(weakHas, standing, [all[i]]) && (waited < kDrainMs || status(all[i]) === "pending")) return true;
    }
    return false;
  };

  const kAnyTimeMs = 86_400_000; // the run has a limit of its own
  // No promise of this file's is awaited: `await` looks up what foreign code may have replaced.
  let draining = false;
  const drain = (waited, done) => {
    if (waited < kWorkMs && isPending(waited)) wait(() => drain(waited + kDrainStepMs, done), kDrainStepMs);
    else pass(kTurns, done);
  };
  const pass = (turns, done) => (turns > 0 ? immediate(() => pass(turns - 1, done)) : done());
  // bun runs the hooks of preloaded files in their order, and none may come after this one.
  let isLast = false;
  const beLast = () => {
    if (isLast) return;
    isLast = true;
    afterAll((done) => {
      endLast();
      if (isFakeTimers()) useRealTimers();
      draining = true;
      pass(2, () => drain(0, () => conclude(done)));
    }, kAnyTimeMs);
  };
  const sumUp = (open) => {
    for (let what = open; what !== null; what = what.after) {
      if (what.error !== pending) ++count.outside_failed;
      else ++count.unawaited, name("unawaited", "(an assertion that never ended)");
    }
  };
  const conclude = (done) => {
    sealed = true;
    endLast();
    look();
    for (let one = outside.after; one !== outside; one = one.after) ++count.abandoned;
    sumUp(outside.open);
    sumUp(late.open);
    for (let test = tests; test !== null; test = test.next) {
      ++count.begun;
      const passed = test.passed && (test.failures === 0 || test.repeats === 0);
      if (passed) ++count.passed;
      else ++count.failed;
      if (passed && test.failures > kFailuresForgiven) ++count.flaky, name("flaky", test.title);
      if (test.undecided > 0) ++count.unawaited, name("unawaited", test.title);
      if (passed && test.assertions === 0) ++count.unasserted, name("unasserted", test.title);
    }
    if (ofNoTest.undecided > 0) ++count.unawaited, name("unawaited", ofNoTest.title);
    if (count.tampered > 0) name("tampered", printable(tamperedWith));
    // init closes the channel once it has looked at this process, which must be there until then. Where somebody else
    // has written to the channel, or closed it, init knows, and nothing is attested.
    afterwards(say, () => afterwards(() => apply(readAll, answer, []), () => done()));
  };
  const afterwards = (begin, next) => {
    try {
      const promise = begin();
      defineProperty(promise, "constructor", ofNobody);
      apply(then, promise, [next, next]);
    } catch {
      next();
    }
  };

  // ---- the MAC -----------------------------------------------------------------------------------------------------

  // SipHash-2-4 on halves of 64-bit words: h high, l low.
  let v0h, v0l, v1h, v1l, v2h, v2l, v3h, v3l;
  const load = (bytes, at) => bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) | (bytes[at + 3] << 24);
  const key0l = load(key, 0);
  const key0h = load(key, 4);
  const key1l = load(key, 8);
  const key1h = load(key, 12);
  for (let i = 0; i < kKeyBytes; ++i) key[i] = 0;
  const carry = (low, added) => (low >>> 0 < added >>> 0 ? 1 : 0);
  const round = () => {
    let h, l;
    v0l = (v0l + v1l) | 0; v0h = (v0h + v1h + carry(v0l, v1l)) | 0;
    v2l = (v2l + v3l) | 0; v2h = (v2h + v3h + carry(v2l, v3l)) | 0;
    h = (v1h << 13) | (v1l >>> 19); l = (v1l << 13) | (v1h >>> 19); v1h = h ^ v0h; v1l = l ^ v0l;
    h = (v3h << 16) | (v3l >>> 16); l = (v3l << 16) | (v3h >>> 16); v3h = h ^ v2h; v3l = l ^ v2l;
    h = v0h; v0h = v0l; v0l = h;
    v2l = (v2l + v1l) | 0; v2h = (v2h + v1h + carry(v2l, v1l)) | 0;
    v0l = (v0l + v3l) | 0; v0h = (v0h + v3h + carry(v0l, v3l)) | 0;
    h = (v1h << 17) | (v1l >>> 15); l = (v1l << 17) | (v1h >>> 15); v1h = h ^ v2h; v1l = l ^ v2l;
    h = (v3h << 21) | (v3l >>> 11); l = (v3l << 21) | (v3h >>> 11); v3h = h ^ v0h; v3l = l ^ v0l;
    h = v2h; v2h = v2l; v2l = h;
  };
  const compress = (high, low) => {
    v3h ^= high; v3l ^= low;
    round(); round();
    v0h ^= high; v0l ^= low;
  };
  const say = () => {
    let said = "";
    const keys = ownKeys(count);
    for (let i = 0; i < keys.length; ++i) {
      if (count[keys[i]] !== 0) said += keys[i] + "=" + text(count[keys[i]]) + "\n"; // no word is a 0
    }
    said += names;
    // UTF-8, by hand: an encoder would be a function that sees the message before it is signed.
    const message = new BytesHere(said.length * 3 + kTagBytes);
    let size = 0;
    for (let i = 0; i < said.length; ++i) {
      let code = apply(charCodeAt, said, [i]);
      if (code >= 0xd800 && code < 0xe000) code = 0xfffd; // halves of what does not fit into 16 bits: titles only
      if (code < 0x80) message[size++] = code;
      else {
        if (code < 0x800) message[size++] = 0xc0 | (code >> 6);
        else {
          message[size++] = 0xe0 | (code >> 12);
          message[size++] = 0x80 | ((code >> 6) & 63);
        }
        message[size++] = 0x80 | (code & 63);
      }
    }
    v0l = key0l ^ 0x70736575; v0h = key0h ^ 0x736f6d65;
    v1l = key1l ^ 0x6e646f6d; v1h = key1h ^ 0x646f7261;
    v2l = key0l ^ 0x6e657261; v2h = key0h ^ 0x6c796765;
    v3l = key1l ^ 0x79746573; v3h = key1h ^ 0x74656462;
    let at = 0;
    for (; at + 8 <= size; at += 8) compress(load(message, at + 4), load(message, at));
    let low = 0;
    let high = size << 24;
    for (let i = 0; at + i < size; ++i) {
      if (i < 4) low |= message[at + i] << (8 * i);
      else high |= message[at + i] << (8 * (i - 4));
    }
    compress(high, low);
    v2l ^= 0xff;
    round(); round(); round(); round();
    const tagLow = v0l ^ v1l ^ v2l ^ v3l;
    const tagHigh = v0h ^ v1h ^ v2h ^ v3h;
    for (let i = 0; i < 4; ++i) {
      message[size + i] = tagLow >>> (8 * i);
      message[size + 4 + i] = tagHigh >>> (8 * i);
    }
    return write(channel, apply(subarray, message, [0, size + kTagBytes]));
  };
  if (!isPreloading) beLast();
  return close(beLast);
};

// Under this name bun shows the test's own line for a failure in it and not one of these.
//# sourceURL=node:guard
