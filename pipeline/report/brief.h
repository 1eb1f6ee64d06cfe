// What a generator has to know before it writes code for a project: where it may write, what the code sees and is held
// to, and what the rules refuse, with what to write instead. Goes in front of a prompt, or into a file of instructions
// for agents.
#pragma once

#include <filesystem>
#include <string>

#include "pipeline/config/config.h"
#include "rules/rule_set.h"

namespace guard {

struct BriefRequest {
  std::filesystem::path project;  // the names of its packages and whether it has a folder sandbox/ are read there
  const Config* config = nullptr;
  const RuleSet* rules = nullptr;
};

// Markdown, under a heading of the second level.
std::string brief_text(const BriefRequest& request);
// The same as a JSON document.
std::string brief_document(const BriefRequest& request);

}  // namespace guard
