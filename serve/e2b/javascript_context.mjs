// A context of the code interpreter for JavaScript and TypeScript, run by bun. It speaks as python_context.py does.
// Bun's transpiler turns a cell into a script whose declarations are global, as for a REPL. Code may replace globals:
// what is needed of them is taken first.
import { Console } from 'node:console';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import { Writable } from 'node:stream';
import { inspect } from 'node:util';
import vm from 'node:vm';

const {
  AggregateError, Array, BuildMessage, Buffer, Bun, Error, JSON, Object, Promise, String, Symbol, TextDecoder, process,
  setImmediate,
} = globalThis;
const { env, reallyExit } = process;
const transpiler = new Bun.Transpiler({ loader: 'ts', replMode: true });

// Without dup2: what is opened next gets the number that was closed last.
const input = fs.openSync('/proc/self/fd/0', 'r');
const says = fs.openSync('/proc/self/fd/1', 'w');
fs.closeSync(0);
fs.openSync('/dev/null', 'r');
fs.closeSync(1);
fs.openSync('/proc/self/fd/2', 'w');

let id = null;

// Half a surrogate is no text.
const whole = (_, value) => (typeof value === 'string' ? value.toWellFormed() : value);

function say(event) {
  const bytes = Buffer.from(JSON.stringify({ ...event, id }, whole) + '\n');
  try {
    for (let at = 0; at < bytes.length;) at += fs.writeSync(says, bytes, at);
  } catch {
    reallyExit(1);
  }
}

function stream(type, fd) {
  const write = (text, _, done) => {
    for (const piece of String(text).match(/[^]{1,65536}/gu) ?? []) say({ type, text: piece });
    done();
  };
  const made = Object.assign(new Writable({ decodeStrings: false, write }), { fd, isTTY: false });
  Object.defineProperty(process, type, { value: made, configurable: true });
  return made;
}
const stdout = stream('stdout', 1), stderr = stream('stderr', 2);
Object.assign(console, new Console({ stdout, stderr }));

const kinds = {
  'text/plain': 'text', 'text/html': 'html', 'text/markdown': 'markdown', 'text/latex': 'latex', 'image/png': 'png',
  'image/jpeg': 'jpeg', 'image/svg+xml': 'svg', 'application/pdf': 'pdf', 'application/json': 'json',
  'application/javascript': 'javascript',
};

// A value may know its own forms, as in Deno's notebooks.
async function show(value, is_main_result = false) {
  const found = { text: typeof value === 'string' ? value : inspect(value) };
  const own = value?.[Symbol.for('Jupyter.display')];
  if (typeof own === 'function') {
    for (const [kind, form] of Object.entries(await own.call(value))) if (kinds[kind]) found[kinds[kind]] = form;
  } else if (Array.isArray(value) || (value && [null, Object.prototype].includes(Object.getPrototypeOf(value)))) {
    try { found.json = JSON.parse(JSON.stringify(value)); } catch { }  // a cycle, a BigInt
  }
  say({ type: 'result', is_main_result, ...found });
}

// As a shell says it: under the name by which one has come here, while that is still the same folder.
const cwd = process.cwd.bind(process), folder = cwd(), { PWD } = env;
process.cwd = () => {
  const here = cwd();
  try { return PWD && fs.realpathSync(PWD) === here ? PWD : here; } catch { return here; }
};

// Without what is above the code, and the folder of cells. `file`: where the transpiler could not read it.
function described(error, file) {
  const first = error instanceof AggregateError ? error.errors[0] : error;
  if (first instanceof BuildMessage)
    return { name: 'SyntaxError', value: first.message, traceback: Bun.inspect(error).replaceAll('input.ts', file) };
  const text = error instanceof Error ? String(error.message) : inspect(error);
  const stack = String(error?.stack ?? text).split('\n    at runInThisContext')[0];
  const traceback = stack.replaceAll(`${folder}/<`, '<');
  return { name: String(error?.name ?? 'Error'), value: text, traceback };
}

// Of code that nobody waits for.
for (const kind of ['uncaughtException', 'unhandledRejection'])
  process.on(kind, (error) => stderr.write(`Uncaught ${described(error).traceback}\n`));

globalThis.require = createRequire(folder + '/');
globalThis.display = async (...values) => {
  for (const value of values) await show(value);
};
const options = { importModuleDynamically: vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER };

// A declaration that comes last has no value; the transpiler makes an assignment of it.
function declares(script) {
  const last = script.slice(script.lastIndexOf('\n    value: ') + 12).match(/^([\w$]+) = /)?.[1];
  return [...script.matchAll(/^var (.+);$/gm)].some(([, names]) => names.split(', ').includes(last));
}

// Not by streams of Node: these want its globals to be as they were.
async function* lines() {
  const decoder = new TextDecoder();
  let held = '';
  for await (const bytes of Bun.file(input).stream()) {
    const all = (held + decoder.decode(bytes, { stream: true })).split('\n');
    held = all.pop();
    yield* all;
  }
}

let execution_count = 0;
for await (const line of lines()) {
  const request = JSON.parse(line);
  id = request.id;
  const cell = `<cell ${++execution_count}>`;
  const before = Object.keys(request.env).map((name) => [name, env[name]]);
  try {
    say({ type: 'number_of_executions', execution_count });
    Object.assign(env, request.env);
    const script = transpiler.transformSync(request.code);
    const made = await vm.runInThisContext(script, { ...options, filename: `${folder}/${cell}` });
    if (made?.value !== undefined && !declares(script)) await show(made.value, true);
  } catch (error) {
    let told = { name: 'Error', value: '', traceback: '' };
    try { told = described(error, cell); } catch { }  // it may be made to throw
    say({ type: 'error', ...told });
  }
  await new Promise((done) => setImmediate(done));  // for what is said of rejections
  for (const [name, value] of before) value === undefined ? delete env[name] : (env[name] = value);
  say({ type: 'end_of_execution' });
}
reallyExit(0);  // whatever code has left running or replaced
