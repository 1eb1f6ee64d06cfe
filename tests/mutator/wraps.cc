// Statements and values inside of functions, blocks and classes that are run at once.
#include <fmt/format.h>

#include "tests/mutator/mutation.h"

namespace guard::mutator {
namespace {

bool pick_statement(const Source& source, Random& random, Range& out, bool& awaits) {
  const std::vector<Range> all = source.statements();
  std::vector<std::size_t> sites;
  for (const Range& statement : all) {
    // The focus may lie in the middle of a statement.
    std::size_t site = statement.begin;
    for (std::size_t i = statement.begin; i <= statement.end; ++i) {
      if (source.in_focus(i)) site = i;
    }
    sites.push_back(site);
  }
  const std::size_t site = pick_site(source, sites, random);
  if (site == kNone) return false;
  for (std::size_t i = 0; i < sites.size(); ++i) {
    if (sites[i] == site) out = all[i];
  }
  awaits = false;
  for (std::size_t i = out.begin; i <= out.end; ++i) awaits = awaits || source.is(i, "await");
  return true;
}

bool around(const Source& source, Random& random, std::vector<Edit>& edits,
    const std::vector<std::pair<std::string, std::string>>& forms) {
  Range statement;
  bool awaits = false;
  if (!pick_statement(source, random, statement, awaits) || awaits) return false;
  for (std::size_t i = statement.begin; i <= statement.end; ++i) {
    // An assignment can't be an operand.
    if (source.is(i, "=") && source.enclosing(i) == source.enclosing(statement.begin)) return false;
  }
  const auto& [before, behind] = random.pick(forms);
  const Range range = source.range(statement.begin, statement.end);
  edits.push_back({range.begin, range.begin, before});
  edits.push_back({range.end, range.end, behind});
  return true;
}

bool function(const Source& source, Random& random, std::vector<Edit>& edits) {
  return around(source, random, edits,
      {{";(() => { ", " })();"}, {";(function () { ", " })();"}, {"void function () { ", " }();"},
          {";[1].forEach(() => { ", " });"}, {"{ const later = () => { ", " }; later(); }"}});
}

bool async_function(const Source& source, Random& random, std::vector<Edit>& edits) {
  Range statement;
  bool awaits = false;
  if (!pick_statement(source, random, statement, awaits)) return false;
  const Range range = source.range(statement.begin, statement.end);
  edits.push_back({range.begin, range.begin,
      awaits                 ? "await (async () => { "
          : random.one_in(2) ? ";(async () => { "
                             : ";(async function () { "});
  edits.push_back({range.end, range.end, " })();"});
  return true;
}

bool static_block(const Source& source, Random& random, std::vector<Edit>& edits) {
  return around(source, random, edits, {{"class Holder { static { ", " } }"}, {";(class { static { ", " } });"}});
}

bool block(const Source& source, Random& random, std::vector<Edit>& edits) {
  return around(source, random, edits,
      {{"{ ", " }"}, {"if (true) { ", " }"}, {"if (1) ", ""}, {"try { ", " } finally { }"},
          {"do { ", " } while (false);"}, {"label: { ", " }"}, {"switch (1) { case 1: ", " }"},
          {"for (const once of [1]) { ", " }"}, {"for (;;) { ", " break; }"}, {"while (true) { ", " break; }"},
          {"if (false) { } else ", ""}, {"try { throw 1 } catch { ", " }"}});
}

bool prefixed(const Source& source, Random& random, std::vector<Edit>& edits) {
  return around(source, random, edits, {{"void 0, ", ""}, {"true && ", ""}, {"const result_1 = ", ""}, {"; ; ", " ;"}});
}

}  // namespace

void add_wrap_mutations(std::vector<Mutation>& out) {
  out.push_back({"wrap.function", function});
  out.push_back({"wrap.async_function", async_function});
  out.push_back({"wrap.static_block", static_block});
  out.push_back({"wrap.block", block});
  out.push_back({"wrap.prefixed", prefixed});
}

}  // namespace guard::mutator
