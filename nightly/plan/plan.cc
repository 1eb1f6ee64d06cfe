#include "nightly/plan/plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>

#include "common/file_io.h"
#include "common/text/text.h"
#include "common/text/toml_file.h"
#include "pipeline/config/config_texts.h"

// A fault never ends the reading: a person fixes all of them in one go, and in the evening, not at the third task of
// the night.

namespace guard::nightly {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kPlanBytesMax = 4u << 20;
constexpr std::size_t kTasksMax = 10'000;
// What a model reads at once is smaller; what a pipe and a row of the journal take is larger.
constexpr std::size_t kPromptBytesMax = 256u << 10;
constexpr std::size_t kArgumentsMax = 256;
constexpr std::size_t kArgumentBytesMax = 64u << 10;  // the kernel takes 128 KiB
constexpr std::size_t kNamesMax = 256;
constexpr std::size_t kTestsMax = 1'000;
constexpr std::size_t kFaultsMax = 100;
constexpr std::int64_t kJobsMax = 512;  // a thread each

constexpr std::int64_t kDay = 86'400;

std::string_view task_id_rule(std::string_view text) {
  constexpr std::string_view kSentence = "is not 1 to 64 of A-Z a-z 0-9 . _ -, first a letter or digit";
  const auto is_plain = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
  };
  // Files and folders are named after it: no "..", nothing that a program would take for an option.
  if (text.empty() || text.size() > 64 || !is_plain(text[0])) return kSentence;
  const bool good =
      std::all_of(text.begin(), text.end(), [&](char c) { return is_plain(c) || c == '.' || c == '_' || c == '-'; });
  return good ? "" : kSentence;
}

std::string_view revision_rule(std::string_view text) {
  if (text.empty()) return "is empty";
  if (text.size() > 256) return "is longer than 256 bytes";
  if (text[0] == '-') return "begins with a dash, which git would read as an option";
  const bool good = std::all_of(
      text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) > 0x20 && c != 0x7f && c != ':'; });
  if (!good || text.find("..") != std::string_view::npos) return "is not the name of one commit";
  return is_utf8(text) ? "" : "is not UTF-8";
}

// git check-ref-format, a little stricter.
std::string_view branch_rule(std::string_view text) {
  constexpr std::string_view kSentence = "is not a name that git takes for a branch";
  if (const auto fault = revision_rule(text); !fault.empty()) return fault;
  if (text.starts_with("refs/")) return "is a full name; leave out refs/heads/";
  if (text == "HEAD" || text == "@" || text.find_first_of("~^?*[\\") != std::string_view::npos ||
      text.find("@{") != std::string_view::npos)
    return kSentence;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('/', at), text.size());
    const auto part = text.substr(at, end - at);
    if (part.empty() || part.starts_with(".") || part.ends_with(".") || part.ends_with(".lock")) return kSentence;
    at = end + 1;
  }
  return "";
}

std::string_view folder_rule(std::string_view text) {
  if (const auto fault = glob_rule(text); !fault.empty()) return fault;
  return text.find_first_of("*?") == std::string_view::npos ? "" : "holds a wildcard; it must be one folder";
}

std::string_view argument_rule(std::string_view text) {
  if (text.size() > kArgumentBytesMax) return "is longer than 64 KiB";
  if (text.find('\0') != std::string_view::npos) return "holds a NUL, which no argument can";
  return is_utf8(text) ? "" : "is not UTF-8";
}

// Seen from the clone, a relative program would be one that an earlier attempt may have written.
std::string_view generator_rule(std::string_view text) {
  if (text.empty()) return "is empty";
  if (text[0] == '/' || text.find('/') == std::string_view::npos)
    return text[0] == '-' ? "begins with a dash" : any_text_rule(text);
  return "is seen from the clone that a generator writes to; name the program absolutely, or by a name that PATH finds";
}

std::string_view absolute_rule(std::string_view text) {
  if (const auto fault = any_text_rule(text); !fault.empty()) return fault;
  return text.starts_with('/') ? "" : "is no absolute path; each machine has another current folder";
}

// What becomes part of an option for sbatch.
std::string_view word_rule(std::string_view text) {
  const bool good = !text.empty() && text.size() <= 64 && text[0] != '-' &&
      text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-,") == text.npos;
  return good ? "" : "is not 1 to 64 of A-Z a-z 0-9 . _ - and commas";
}

std::string_view object_rule(std::string_view text) {
  const bool good = !text.empty() && text.size() <= 63 && text.front() != '-' && text.back() != '-' &&
      text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == text.npos;
  return good ? "" : "is no name of an object of Kubernetes: 1 to 63 of a-z 0-9 and -";
}

std::string_view key_rule(std::string_view text) {
  if (const auto fault = any_text_rule(text); !fault.empty()) return fault;
  constexpr std::string_view kExpiry = "valid-before=\"";
  if (text.starts_with(kExpiry)) {
    const std::size_t end = text.find("\" ", kExpiry.size());
    const auto date = text.substr(kExpiry.size(), end == text.npos ? 0 : end - kExpiry.size());
    if (date.size() != 8 || date.find_first_not_of("0123456789") != date.npos)
      return "has no date before its key, as valid-before=\"20300131\" ssh-ed25519 AAAA...";
    text.remove_prefix(end + 2);
  }
  const bool good = (text.starts_with("ssh-") || text.starts_with("ecdsa-") || text.starts_with("sk-")) &&
      text.find(' ') != text.npos && text.find_first_of("\n\"") == text.npos && text.size() <= 8'192;
  return good ? "" : "is no public key in one line, as \"ssh-ed25519 AAAA...\"";
}

std::string_view prompt_rule(std::string_view text) {
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) return "says nothing";
  if (text.size() > kPromptBytesMax) return "is longer than 256 KiB";
  if (text.find('\0') != std::string_view::npos) return "holds a NUL";
  return is_utf8(text) ? "" : "is not UTF-8";
}

using TextRule = std::string_view (*)(std::string_view);
using Prompts = std::map<std::string, std::string>;

class PlanReader {
 public:
  PlanReader(std::string_view name, const fs::path* folder, const Prompts* prompts)
      : name_(printable(name)), folder_(folder), prompts_(prompts) {}

  Result<Plan> read(std::string_view text) {
    if (text.size() > kPlanBytesMax)
      return Error(ErrorCode::config_invalid, fmt::format("{} is larger than {} bytes", name_, kPlanBytesMax));
    GUARD_TRY_ASSIGN(const TomlValue root, parse_toml(text, name_));
    // First what tasks take over, wherever it stands: TOML has it before the first [[task]].
    read_root(root);
    if (const TomlValue* tasks = root.find("task"); tasks == nullptr) {
      fault(root.line, root.column, "the plan has no [[task]]");
    } else if (tasks->kind != TomlValue::Kind::array) {
      fault(tasks->line, tasks->column,
          fmt::format("a task stands under [[task]], in double brackets; here `task` is {}", tasks->kind_name()));
    } else if (tasks->items.empty()) {
      fault(tasks->line, tasks->column, "the plan has no [[task]]");
    } else if (tasks->items.size() > kTasksMax) {
      fault(tasks->line, tasks->column, fmt::format("{} tasks are more than {}", tasks->items.size(), kTasksMax));
    } else {
      for (const auto& item : tasks->items) read_task(item);
      check_order();
    }
    if (!faults_.empty()) return failure();
    return std::move(plan_);
  }

 private:
  void fault(std::uint32_t line, std::uint32_t column, std::string_view sentence) {
    faults_.push_back(toml_complaint(name_, std::max(line, 1u), std::max(column, 1u), sentence));
  }
  void fault(const TomlMember& member, std::string_view sentence) {
    fault(member.value.line, member.value.column, fmt::format("`{}` {}", shown_value(member.key), sentence));
  }

  Error failure() const {
    const std::size_t shown = std::min(faults_.size(), kFaultsMax);
    std::string text =
        fmt::format("{}", fmt::join(faults_.begin(), faults_.begin() + static_cast<std::ptrdiff_t>(shown), "\n"));
    if (shown < faults_.size()) text += fmt::format("\nand {} more", faults_.size() - shown);
    return Error(ErrorCode::config_invalid, std::move(text)).hint("fix the plan; nothing was started");
  }

  // ---- kinds of values ----

  bool read_text(const TomlMember& member, TextRule rule, std::string& text) {
    if (member.value.kind != TomlValue::Kind::string) {
      fault(member, fmt::format("must be a string, not {}", member.value.kind_name()));
      return false;
    }
    if (const auto wrong = rule(member.value.text); !wrong.empty()) {
      fault(member,
          fmt::format("{}{}",
              member.value.text.empty() ? std::string() : fmt::format("\"{}\" ", shown_value(member.value.text)),
              wrong));
      return false;
    }
    text = member.value.text;
    return true;
  }

  template <typename Number>
  void read_number(const TomlMember& member, std::int64_t min, std::int64_t max, Number& number) {
    if (member.value.kind != TomlValue::Kind::integer) {
      fault(member, fmt::format("must be a whole number, not {}", member.value.kind_name()));
    } else if (member.value.integer < min || member.value.integer > max) {
      fault(member, fmt::format("is {}; it must be {} to {}", member.value.integer, min, max));
    } else {
      number = static_cast<Number>(member.value.integer);
    }
  }

  void read_switch(const TomlMember& member, bool& value) {
    if (member.value.kind != TomlValue::Kind::boolean)
      return fault(member, fmt::format("must be true or false, not {}", member.value.kind_name()));
    value = member.value.boolean;
  }

  void read_list(const TomlMember& member, TextRule rule, std::size_t items_max, std::vector<std::string>& list,
      TextRule first_rule = nullptr) {
    if (member.value.kind != TomlValue::Kind::array)
      return fault(member, fmt::format("must be a list of strings, not {}", member.value.kind_name()));
    if (member.value.items.size() > items_max)
      return fault(member, fmt::format("has {} items, more than {}", member.value.items.size(), items_max));
    std::vector<std::string> items;
    for (const auto& item : member.value.items) {
      const TextRule item_rule = items.empty() && first_rule != nullptr ? first_rule : rule;
      items.push_back(item.text);
      if (item.kind != TomlValue::Kind::string) {
        fault(
            item.line, item.column, fmt::format("`{}` holds {} where a string belongs", member.key, item.kind_name()));
      } else if (const auto wrong = item_rule(item.text); !wrong.empty()) {
        fault(item.line, item.column, fmt::format("`{}`: \"{}\" {}", member.key, shown_value(item.text), wrong));
      }
    }
    list = std::move(items);
  }

  // ---- what stands where ----

  struct Key {
    std::string_view name;
    std::function<void(const TomlMember& member)> read;
    std::string_view older_name = {};
  };

  void read_members(const TomlValue& table, std::string_view where, const std::vector<Key>& keys) {
    for (const auto& member : table.members) {
      const auto key = std::find_if(keys.begin(), keys.end(),
          [&](const Key& row) { return row.name == member.key || row.older_name == member.key; });
      if (key != keys.end()) {
        key->read(member);
        continue;
      }
      std::vector<std::string_view> known;
      for (const Key& row : keys) known.push_back(row.name);
      const auto near = nearest_word(member.key, known);
      fault(member.line, member.column,
          fmt::format("unknown key `{}` {}; {}", shown_value(member.key), where,
              near.empty() ? fmt::format("there are {}", fmt::join(known, ", "))
                           : fmt::format("did you mean `{}`?", near)));
    }
  }

  template <typename Unit, typename Time>
  void read_time(const TomlMember& member, std::int64_t max, Time& time) {
    std::int64_t count = std::chrono::duration_cast<Unit>(time).count();
    read_number(member, 1, max, count);
    time = Unit(count);
  }

  // What tasks and the plan itself can both say; the task's word counts.
  Key generator_key(PlannedTask& task) {
    return {"generator", [this, &task](const TomlMember& m) {
              read_list(m, argument_rule, kArgumentsMax, task.generator, generator_rule);
              if (m.value.kind == TomlValue::Kind::array && m.value.items.empty())
                fault(m, "is empty; it is a program and its arguments");
            }};
  }
  Key timeout_key(PlannedTask& task) {
    return {"generator_timeout",
        [this, &task](const TomlMember& m) { read_time<std::chrono::seconds>(m, kDay, task.generator_timeout); }};
  }
  Key attempts_key(PlannedTask& task) {
    return {"attempts", [this, &task](const TomlMember& m) { read_number(m, 1, 100, task.attempts); }};
  }

  void read_root(const TomlValue& root) {
    using M = const TomlMember&;
    read_members(root, "in the plan",
        {{"base", [&](M m) { read_text(m, revision_rule, plan_.base); }},
            {"branch", [&](M m) { read_text(m, branch_rule, plan_.branch); }}, generator_key(defaults_),
            {"generator_env", [&](M m) { read_list(m, variable_rule, kNamesMax, plan_.generator_env); }},
            timeout_key(defaults_), {"allow_left_processes", [&](M m) { read_switch(m, plan_.allow_left_processes); }},
            attempts_key(defaults_), {"jobs", [&](M m) { read_number(m, 1, kJobsMax, plan_.jobs); }},
            {"budget", [&](M m) { read_budget(m); }}, {"executor", [&](M m) { read_executor(m); }},
            {"task", [](M) { /* read once all else is known */ }}});
  }

  void read_budget(const TomlMember& member) {
    if (member.value.kind != TomlValue::Kind::table)
      return fault(member, fmt::format("must be a table, not {}", member.value.kind_name()));
    using M = const TomlMember&;
    auto& budget = plan_.budget;
    read_members(member.value, "in [budget]",
        {{"time", [&](M m) { read_time<std::chrono::seconds>(m, 7 * kDay, budget.time); }},
            {"attempts", [&](M m) { read_number(m, 1, 1'000'000, budget.attempts); }},
            {"failures_in_a_row", [&](M m) { read_number(m, 1, 1'000'000, budget.failures_in_a_row); }},
            {"requeued", [&](M m) { read_number(m, 1, 10'000, budget.requeued); }, "put_backs"},
            {"back_off_ms", [&](M m) { read_time<std::chrono::milliseconds>(m, 60'000, budget.back_off); }}});
  }

  void read_executor(const TomlMember& member) {
    if (member.value.kind != TomlValue::Kind::table)
      return fault(member, fmt::format("must be a table, not {}", member.value.kind_name()));
    using M = const TomlMember&;
    auto& executor = plan_.executor;
    read_members(member.value, "in [executor]",
        {{"kind",
             [&](M m) {
               std::string name;
               if (!read_text(m, any_text_rule, name)) return;
               const auto known = named<ExecutorKind>(name);
               executor.kind = known.value_or(executor.kind);
               if (!known) fault(m, fmt::format("must be local, folder or slurm, not \"{}\"", shown_value(name)));
             }},
            {"shared", [&](M m) { read_text(m, absolute_rule, executor.shared); }},
            {"scratch", [&](M m) { read_text(m, absolute_rule, executor.scratch); }},
            {"program", [&](M m) { read_text(m, absolute_rule, executor.program); }},
            {"key", [&](M m) { read_text(m, absolute_rule, executor.key); }},
            {"signers", [&](M m) { read_list(m, key_rule, kNamesMax, executor.signers); }},
            {"trust_workers", [&](M m) { read_list(m, key_rule, kNamesMax, executor.trust_workers); }},
            {"partition", [&](M m) { read_text(m, word_rule, executor.partition); }},
            {"account", [&](M m) { read_text(m, word_rule, executor.account); }},
            {"memory", [&](M m) { read_text(m, word_rule, executor.memory); }},
            {"cpus", [&](M m) { read_number(m, 1, 1'024, executor.cpus); }},
            {"time", [&](M m) { read_time<std::chrono::seconds>(m, 7 * kDay, executor.time); }},
            {"batch", [&](M m) { read_number(m, 1, kJobsMax, executor.batch); }},
            {"pass", [&](M m) { read_list(m, variable_rule, kNamesMax, executor.pass); }},
            {"image", [&](M m) { read_text(m, any_text_rule, executor.image); }},
            {"volume", [&](M m) { read_text(m, object_rule, executor.volume); }},
            {"runtime_class", [&](M m) { read_text(m, object_rule, executor.runtime_class); }},
            {"secret", [&](M m) { read_text(m, object_rule, executor.secret); }}});
  }

  void read_task(const TomlValue& table) {
    if (table.kind != TomlValue::Kind::table)
      return fault(table.line, table.column, fmt::format("a task must be a table, not {}", table.kind_name()));
    using M = const TomlMember&;
    PlannedTask task = defaults_;
    const TomlMember* prompt = nullptr;
    const TomlMember* prompt_file = nullptr;
    read_members(table, "in a [[task]]",
        {{"id",
             [&](M m) {
               if (read_text(m, task_id_rule, task.id)) note_id(m, task.id);
             }},
            {"kind", [&](M m) { read_kind(m, task.kind); }}, {"prompt", [&](M m) { prompt = &m; }},
            {"prompt_file", [&](M m) { prompt_file = &m; }},
            {"tests", [&](M m) { read_list(m, glob_rule, kTestsMax, task.tests); }},
            {"allow", [&](M m) { read_list(m, allow_rule, kTestsMax, task.allow.emplace()); }},
            {"project",
                [&](M m) {
                  if (read_text(m, folder_rule, task.project) && task.project.ends_with('/')) task.project.pop_back();
                }},
            {"after",
                [&](M m) {
                  read_list(m, task_id_rule, kTestsMax, task.after);
                  after_.emplace_back(plan_.tasks.size(), &m);
                }},
            generator_key(task), timeout_key(task), attempts_key(task)});
    if (table.find("id") == nullptr) fault(table.line, table.column, "a task needs an `id`");
    if (task.generator.empty() && table.find("generator") == nullptr && !generator_told_) {
      fault(table.line, table.column, "there is no `generator`, neither in the plan nor in this task");
      generator_told_ = true;  // one word for all tasks
    }
    read_prompt(table, prompt, prompt_file, task);
    task.never_generated = never_generated(task);
    plan_.tasks.push_back(std::move(task));
  }

  // Of `after`: only tasks that there are, and no task that waits for itself, by whatever way.
  void check_order() {
    std::map<std::string_view, std::size_t> positions;
    for (std::size_t i = 0; i < plan_.tasks.size(); ++i) positions.emplace(plan_.tasks[i].id, i);
    for (const auto& [position, member] : after_) {
      for (const auto& id : plan_.tasks[position].after) {
        if (ids_.find(id) == ids_.end())
          fault(*member, fmt::format("names \"{}\", which is the id of no task", shown_value(id)));
      }
    }
    // Tasks whose predecessors are all done, again and again; what is left waits for itself.
    std::vector<bool> done(plan_.tasks.size());
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t i = 0; i < plan_.tasks.size(); ++i) {
        const auto& after = plan_.tasks[i].after;
        if (done[i] || !std::all_of(after.begin(), after.end(), [&](const std::string& id) {
              return positions.count(id) == 0 || done[positions.at(id)];
            }))
          continue;
        done[i] = moved = true;
      }
    }
    for (const auto& [position, member] : after_) {
      if (!done[position])
        fault(*member, fmt::format("of \"{}\" leads in a circle", shown_value(plan_.tasks[position].id)));
    }
  }

  void note_id(const TomlMember& member, const std::string& id) {
    const auto [at, is_new] = ids_.emplace(id, member.value.line);
    if (!is_new)
      fault(member, fmt::format("\"{}\" is the id of two tasks; the other one stands in line {}", id, at->second));
  }

  void read_kind(const TomlMember& member, TaskKind& kind) {
    if (member.value.kind != TomlValue::Kind::string)
      return fault(member, fmt::format("must be \"test\" or \"any\", not {}", member.value.kind_name()));
    const auto known = named<TaskKind>(member.value.text);
    kind = known.value_or(kind);
    if (!known) fault(member, fmt::format("must be \"test\" or \"any\", not \"{}\"", shown_value(member.value.text)));
  }

  void read_prompt(const TomlValue& table, const TomlMember* prompt, const TomlMember* file, PlannedTask& task) {
    if (prompt == nullptr && file == nullptr)
      return fault(table.line, table.column, "a task needs a `prompt` or a `prompt_file`");
    if (prompt != nullptr && file != nullptr) return fault(*file, "and `prompt` exclude each other");
    if (prompts_ != nullptr) {
      const auto kept = prompts_->find(task.id);
      if (kept == prompts_->end())
        return fault(
            table.line, table.column, fmt::format("the journal has no prompt of task \"{}\"", shown_value(task.id)));
      task.prompt = kept->second;
      return;
    }
    if (prompt != nullptr) {
      if (prompt->value.kind != TomlValue::Kind::string)
        return fault(*prompt, fmt::format("must be a string, not {}", prompt->value.kind_name()));
      if (const auto wrong = prompt_rule(prompt->value.text); !wrong.empty()) return fault(*prompt, wrong);
      task.prompt = prompt->value.text;
      return;
    }
    std::string path;
    if (!read_text(*file, path_rule, path)) return;
    auto bytes = read_file(*folder_ / path, kPromptBytesMax, FollowLinks::yes);
    if (!bytes) return fault(*file, fmt::format("cannot be read: {}", bytes.error().message()));
    if (const auto wrong = prompt_rule(*bytes); !wrong.empty())
      return fault(*file, fmt::format("\"{}\" {}", shown_value(path), wrong));
    task.prompt = std::move(*bytes);
  }

  std::string name_;
  const fs::path* folder_;
  const Prompts* prompts_;  // of a night that is resumed
  Plan plan_;
  PlannedTask defaults_;
  bool generator_told_ = false;
  std::map<std::string, std::uint32_t, std::less<>> ids_;         // id -> line
  std::vector<std::pair<std::size_t, const TomlMember*>> after_;  // position of the task, its key
  std::vector<std::string> faults_;
};

}  // namespace

Result<Plan> parse_plan(std::string_view text, std::string_view name, const fs::path& folder) {
  return PlanReader(name, &folder, nullptr).read(text);
}

Result<Plan> parse_plan(
    std::string_view text, std::string_view name, const std::vector<std::pair<std::string, std::string>>& prompts) {
  const Prompts by_id(prompts.begin(), prompts.end());
  return PlanReader(name, nullptr, &by_id).read(text);
}

}  // namespace guard::nightly
