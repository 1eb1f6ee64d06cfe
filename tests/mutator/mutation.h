// The kinds of rewrites. Each keeps what a program does, and changes how it is spelled, in one place or around one
// name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tests/mutator/random.h"
#include "tests/mutator/source.h"

namespace guard::mutator {

struct Mutation {
  std::string_view name;  // "string.hex"; the family comes first
  // False if the program has no place for it; then `edits` is left alone.
  bool (*make)(const Source& source, Random& random, std::vector<Edit>& edits);
};

// blanks.cc, strings.cc, members.cc, calls.cc, names.cc, imports.cc, wraps.cc
void add_blank_mutations(std::vector<Mutation>& out);
void add_string_mutations(std::vector<Mutation>& out);
void add_member_mutations(std::vector<Mutation>& out);
void add_call_mutations(std::vector<Mutation>& out);
void add_name_mutations(std::vector<Mutation>& out);
void add_import_mutations(std::vector<Mutation>& out);
void add_wrap_mutations(std::vector<Mutation>& out);

const std::vector<Mutation>& mutations();

// One of `sites`, most times one that lies in the focus; kNone if there is none. A site is a token.
std::size_t pick_site(const Source& source, const std::vector<std::size_t>& sites, Random& random);

// Built-in objects whose functions work without `this`, and which no sample declares anew without our seeing it.
bool is_free_receiver(std::string_view name);

struct Mutant {
  Program program;
  std::vector<std::string_view> kinds;  // in the order in which they were applied
};

// Applies up to `depth` kinds, beginning with `first` if that has a place.
Mutant mutate(const Program& program, std::size_t first, std::size_t depth, Random& random);

}  // namespace guard::mutator
