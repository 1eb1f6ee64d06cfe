// The readings of one file that rules are matched against. Total functions of the bytes; a span of a view leads back to
// the bytes that it came from.
//
// raw: the bytes.
//
// code: what an engine would run, in one spelling. Comments are gone; the only blanks are one blank or LF between two
// words. Contents of strings are masked (""), of regular expressions too (/./), and template text (`${x}`). Module
// names stay visible: import{a as b}from"fs", require("fs"), import("fs"). Members are written x.y, whether the source
// says x?.y, x!.y, x["y"], x['y' + ''] or Reflect.get(x,"y"); globalThis. and its kin are dropped in front of known
// globals; `await`, parentheses around one operand and `as T` in them are gone; \u escapes in names are decoded. Names
// that stand for a known module or global are written as it: with `import {readFileSync as r} from "fs"`, r(x) is
// fs.readFileSync(x).
//
// strings: one entry per string, template and folded constant: 0x1e callee 0x1d text 0x1f. The callee is
// the function that the text is handed to, as the code view spells it ("fs.readFileSync"), cut to its last bytes, or
// empty. Unknown parts are one byte 0x1a. Words of a command that stand in arrays and argument lists are an entry of
// their own, joined by blanks; with a \v before the first unless they are for a function that runs commands, and not
// where they are only asserted. So are paths with dot segments resolved, and commands as a shell would unquote them. In
// a file whose name says that it is not JavaScript, the whole text is an entry too.
//
// A path that something is written to (writeFileSync, Bun.write, the second of copyFileSync, openSync(.., "w")) is an
// entry of its own behind the call, with the callee `=>`. What is imported with { type: "text" } is an entry of
// Bun.file, and so are the items of a list that is gone through by what reads each of them.
//
// A `=` in front of the callee says that it is quiet: it only compares, names, writes or computes with what it is given
// (expect, existsSync, path.join). A second one says that it is a matcher of the test library: expect(x).toBe("y").
//
// commands: one entry per text that a shell could run, for callees that run commands and for texts that name a program
// the rules speak of: 0x1e, `!` if the callee is known to run commands and `?` if not, callee, then for every simple
// command a joint (`;` next, `|` piped, `<` inside of the one before), 0x1d and its words with single blanks between,
// and at the end 0x1f. Quotes, wrappers, variables and substitutions are undone (shell_commands.h); unknown words are
// 0x1a. A program and its arguments in an array are one command, and no shell looks at them. Assertions have no entry.
// Each file that commands of a callee that runs them read (command_files.h) is an entry, too: 0x1e `@` 0x1d path 0x1f.
//
// uses: what the file does with the objects that lead to the world (process, Bun, import.meta, module, globalThis,
// modules and the functions that rules watch): 0x1e kind 0x1d path 0x1d detail 0x1f. Kinds:
//   value     the object or function itself is handed on, where names can't be followed, or is the second thing that a
//             name stands for. The detail is what stands before it: `=` `:` `[` `{` `.` (spread, or the rest of a
//             pattern) `?` `|` `>` (=>) `r` (return) `x` (export default, export .. from), or `(` and the callee, a
//             blank and the second argument where that is a text;
//             `(tag` is f`${x}`
//   spied     a member is watched and still called (spyOn without an implementation)
//   call      `.constructor` of some value is called; the detail is `text` if it is given a text, `value` if not
//   unlisted  a member or a module that no list of rules/runtime_api.toml has
//   always, docker, host   a member or a module of that list; `macro` is an import with { type: "macro" }
// Members that are free or have rules of their own are not told, nor are calls that replace one member (spyOn with
// an implementation, stubGlobal), nor names that the file itself declares.
//
// What is followed: constants, joins, escapes and codings of texts, names and aliases that are bound once, members of
// constant objects, members of the listed surface. No call of a function of the file is followed; what a root of the
// surface is handed to, or built into, is a use. Texts that run as code (eval, new Function, data: addresses, bun -e)
// stand in the views as if they were written there.
//
// Where the text can be read two ways both readings are there, the other ones at the end.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "rules/rule.h"
#include "validator/lex/mapped_text.h"

namespace guard {

class SourceViews {
 public:
  SourceViews();
  ~SourceViews();
  SourceViews(SourceViews&&) noexcept;
  SourceViews& operator=(SourceViews&&) noexcept;

  // Builds all views of `bytes`, which must stay where they are until the next build. Memory is used again from file to
  // file. `bytes` must be shorter than 2^31.
  void build(std::string_view bytes, std::string_view path);

  std::string_view view(View view) const noexcept;
  TextSpan original(View view, std::size_t begin, std::size_t end) const noexcept;

  // The text has more readings than could be followed: it has to be refused.
  bool undecidable() const noexcept;
  // Places of names that spell ASCII letters with \u escapes, and of U+FEFF between tokens.
  const std::vector<TextSpan>& escaped_names() const noexcept;
  const std::vector<std::uint32_t>& byte_order_marks() const noexcept;
  // Work done, in bytes and tokens looked at; for tests of linearity.
  std::uint64_t steps() const noexcept;

 private:
  bool read(std::string_view text, std::string_view path, const TextSpan* origin);

  struct State;
  std::unique_ptr<State> state_;
};

// True if `path` has one of the endings that bun runs as JavaScript or TypeScript, or none at all.
bool is_script_path(std::string_view path) noexcept;

}  // namespace guard
