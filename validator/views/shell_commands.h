// What a shell would run if it were given a text: its simple commands, with quotes, wrappers and plain substitutions
// undone.
//
// A total function of the bytes; it follows POSIX shell grammar (IEEE Std 1003.1, chapter 2) and bash where scripts of
// the field use it: quotes, $'..', ${IFS}, assignments used later in the same text, {a,b}, here-strings and
// here-documents, $(..), `..`, <(..), `sh -c TEXT`, `echo TEXT | sh`. Programs that only start another one (sudo, env,
// timeout, xargs, exec, ...) are taken off. What can't be known is one kWildcard byte. Nothing is executed, and no file
// is looked at.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace guard {

// How a command is joined to the one written before it.
constexpr char kCommandNext = ';';   // ; & && || newline, or the first one
constexpr char kCommandPiped = '|';  // reads what the one before writes
constexpr char kCommandInner = '<';  // its output is part of the command before, or it is the text that one runs

// The command that stands for what was not read. No text can spell it: the wildcard of a text is a word of its own.
constexpr std::string_view kCommandsUnread = "\x1a (not read)";

// Limits of one text. What an expansion or a nested text adds counts too, so a text that doubles itself ends as well.
constexpr std::size_t kShellTextBytesMax = 64 * 1024;
constexpr std::size_t kShellWorkBytesMax = 512 * 1024;
constexpr std::size_t kShellCommandsMax = 1024;
constexpr int kShellDepthMax = 8;

// Appends every simple command of `text` to `out`: a joint, 0x1d, the words parted by single blanks, and ` >` behind
// them if its output goes to a file. The first word is the program's name without its folder. Past one of the limits
// kCommandsUnread stands for the rest. False if `text` has no command that a shell could run.
// `files`: to which the files are added that they read (command_files.h).
bool append_shell_commands(std::string_view text, std::string& out, std::vector<std::string>* files = nullptr);

// The commands as their words, with all that stands in front of a program (NAME=value, sudo); also those of texts that
// they run, and of here-documents, whoever reads these.
struct ShellWords {
  std::vector<std::vector<std::string>> commands;
  bool whole = true;  // false: past one of the limits
};
ShellWords shell_words(std::string_view text);

// append_shell_commands() of a program and its arguments as they are given to exec: no shell looks at them.
bool append_argv_command(
    std::span<const std::string> words, std::string& out, std::vector<std::string>* files = nullptr);

}  // namespace guard
