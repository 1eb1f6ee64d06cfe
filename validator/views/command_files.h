// Which files a command reads, as far as its words say: `token` of `cat token`, `grep -c a token`, `dd if=token`,
// `curl -d @token`, `git show HEAD:token`. What programs do with their operands stands in rules/word_lists.toml
// (file_readers); of a program that is not listed nothing is told.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace guard {

// The words begin with the program, and hold no redirections.
std::vector<std::string> files_read_by(std::span<const std::string> words);

// Appends the file; with a pattern (`to*en`) the names that it could stand for among those that rules look for, too.
void add_read_file(std::string file, std::vector<std::string>& files);

}  // namespace guard
