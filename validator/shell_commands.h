// What a shell would run if it were given a text: its simple commands, with quotes, wrappers and plain substitutions
// undone.
//
// A total function of the bytes; it follows POSIX shell grammar (IEEE Std 1003.1, chapter 2) and bash where scripts of
// the field use it: quotes, $'..', ${IFS}, assignments used later in the same text, {a,b}, here-strings, $(..), `..`,
// <(..), `sh -c TEXT`, `echo TEXT | sh`. Programs that only start another one (sudo, env, timeout, xargs, exec, ...)
// are taken off. What can't be known is one kWildcard byte. Nothing is executed, and no file is looked at.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace guard {

// How a command is joined to the one written before it.
constexpr char kCommandNext = ';';   // ; & && || newline, or the first one
constexpr char kCommandPiped = '|';  // reads what the one before writes
constexpr char kCommandInner = '<';  // its output is part of the command before, or it is the text that one runs

// Appends every simple command of `text` to `out`: a joint, 0x1d, the words parted by single blanks. The first word is
// the program's name without its folder. Text past 64 KiB, 256 commands or 8 levels of nesting is not followed: then
// one command `\x1a` stands for the rest. False if `text` has no command that a shell could run.
bool append_shell_commands(std::string_view text, std::string& out);

// The same for a program and its arguments as they are given to exec: no shell looks at them.
bool append_argv_command(std::string_view words_by_nul, std::string& out);

}  // namespace guard
