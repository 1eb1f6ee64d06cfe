#include <algorithm>

#include "tests/mutator/mutation.h"

namespace guard::mutator {

const std::vector<Mutation>& mutations() {
  static const std::vector<Mutation> kAll = [] {
    std::vector<Mutation> all;
    add_blank_mutations(all);
    add_string_mutations(all);
    add_member_mutations(all);
    add_call_mutations(all);
    add_name_mutations(all);
    add_import_mutations(all);
    add_wrap_mutations(all);
    return all;
  }();
  return kAll;
}

std::size_t pick_site(const Source& source, const std::vector<std::size_t>& sites, Random& random) {
  if (sites.empty()) return kNone;
  std::vector<std::size_t> near;
  std::copy_if(sites.begin(), sites.end(), std::back_inserter(near), [&](std::size_t i) { return source.in_focus(i); });
  return near.empty() || random.one_in(10) ? random.pick(sites) : random.pick(near);
}

bool is_free_receiver(std::string_view name) {
  for (const std::string_view known : {"process", "Bun", "fs", "console", "JSON", "Object", "child_process", "cp"}) {
    if (name == known) return true;
  }
  return false;
}

Mutant mutate(const Program& program, std::size_t first, std::size_t depth, Random& random) {
  Mutant mutant{program, {}};
  std::size_t kind = first;
  for (std::size_t tries = 0; tries < 8 * depth && mutant.kinds.size() < depth; ++tries) {
    const Mutation& mutation = mutations()[kind % mutations().size()];
    kind = random.below(mutations().size());
    const Source source(mutant.program);
    std::vector<Edit> edits;
    if (!mutation.make(source, random, edits)) continue;
    mutant.program = mutator::apply(mutant.program, std::move(edits));
    mutant.kinds.push_back(mutation.name);
  }
  return mutant;
}

}  // namespace guard::mutator
