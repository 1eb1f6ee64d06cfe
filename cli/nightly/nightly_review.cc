// `guard nightly review`: a person takes, drops or sends back what a night accepted. What is taken is picked onto the
// branch that is checked out; what is sent back reaches its generator in the next night.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/nightly/nightly_parts.h"
#include "common/text/text.h"
#include "nightly/plan/queue.h"
#include "nightly/report/report.h"
#include "pipeline/change/git_objects.h"
#include "pipeline/report/json_parts.h"
#include "pipeline/run/run_output.h"

namespace guard {
namespace {

using nightly::Journal;
using nightly::Night;
using nightly::Review;
using nightly::Task;
using nightly::TaskState;

struct Desk {
  NightlyPlace place;
  Journal journal;
  Night night;
  std::vector<Task> tasks;
};

// Decisions are made on the newest row of a task, in whichever night it ran.
Result<void> add_earlier(const Journal& journal, std::vector<Task>& tasks) {
  GUARD_TRY_ASSIGN(auto latest, journal.latest());
  for (Task& row : latest) {
    const auto same = std::find_if(tasks.begin(), tasks.end(), [&](const Task& task) { return task.id == row.id; });
    if (same == tasks.end()) {
      tasks.push_back(std::move(row));
    } else if (same->state == TaskState::skipped) {
      *same = std::move(row);
    }
  }
  return ok();
}

Result<Desk> open_desk(const Options& options, CommandContext& context, const CancelToken& never) {
  GUARD_TRY_ASSIGN(NightlyPlace place, nightly_place(options, context, never));
  GUARD_TRY_ASSIGN(Journal journal, Journal::open(place.state.journal(), Journal::Access::write));
  GUARD_TRY_ASSIGN(Night night, chosen_night(journal, options.night));
  GUARD_TRY_ASSIGN(auto tasks, journal.tasks(night.id));
  if (options.night.empty()) GUARD_TRY(add_earlier(journal, tasks));
  return Desk{std::move(place), std::move(journal), std::move(night), std::move(tasks)};
}

// What a person is in the middle of is theirs: nothing is picked into it, and nothing of it is aborted.
Result<void> must_be_idle(const nightly::NightRepository& repository) {
  for (const char* name : {"CHERRY_PICK_HEAD", "REVERT_HEAD", "MERGE_HEAD", "REBASE_HEAD", "sequencer", "rebase-merge",
           "rebase-apply", "BISECT_START"}) {
    GUARD_TRY_ASSIGN(std::string path, repository.git().read({"rev-parse", "--git-path", name}));
    std::error_code failure;
    if (!std::filesystem::exists(
            std::filesystem::symlink_status(repository.top() / without_line_end(std::move(path)), failure)))
      continue;
    return Error(ErrorCode::input_invalid, fmt::format("the repository is in the middle of something ({})", name))
        .hint("finish or abort it first: `git status` says what it is");
  }
  return ok();
}

// git would write over a file that it was told to ignore.
Result<void> must_be_free(const nightly::NightRepository& repository, const std::string& commit) {
  GUARD_TRY_ASSIGN(const std::string added,
      repository.git().read({"diff-tree", "-r", "-z", "--root", "--no-commit-id", "--name-only", "--no-renames",
          "--diff-filter=A", commit}));
  for (const auto path : pieces_of(added, '\0')) {
    std::error_code failure;
    if (std::filesystem::exists(std::filesystem::symlink_status(repository.top() / std::string(path), failure))) {
      return Error(ErrorCode::input_invalid, fmt::format("{} is in the work tree already", printable(path)))
          .hint("move it away first");
    }
  }
  return ok();
}

// Whether it was picked before: the line that -x leaves.
Result<bool> was_picked(const nightly::NightRepository& repository, const std::string& commit) {
  GUARD_TRY_ASSIGN(const std::string found,
      repository.git().read({"log", "--max-count=1", "--format=%H", "--fixed-strings",
          "--grep=(cherry picked from commit " + commit + ")", "HEAD"}));
  return !found.empty();
}

Result<void> must_be_clean(const nightly::NightRepository& repository) {
  GUARD_TRY_ASSIGN(const std::string changes,
      repository.git().read({"status", "--porcelain", "-z", "--untracked-files=no", "--ignore-submodules=all"}));
  if (changes.empty()) return ok();
  return Error(ErrorCode::input_invalid, "the work tree has changes that are not committed")
      .hint("commit or stash them first: `git status` lists them");
}

Result<void> pick(const Desk& desk, const Task& task) {
  const auto& repository = desk.place.repository;
  GUARD_TRY(must_be_idle(repository));
  GUARD_TRY(must_be_clean(repository));
  GUARD_TRY_ASSIGN(const std::string head, repository.commit_id("HEAD"));
  GUARD_TRY_ASSIGN(const bool there, repository.contains(head, task.commit));
  if (there) return ok();  // the branch of the night was merged
  GUARD_TRY_ASSIGN(const bool picked_before, was_picked(repository, task.commit));
  if (picked_before) return ok();
  GUARD_TRY(must_be_free(repository, task.commit));
  auto picked = repository.git().read({"-c", "commit.gpgSign=false", "cherry-pick", "-x", task.commit});
  if (picked) return ok();
  // Nothing was under way before, so what is under way now is ours.
  (void)repository.git().read({"cherry-pick", "--abort"});
  return Error(ErrorCode::input_invalid,
      fmt::format("{} cannot be picked onto the branch that is checked out: it conflicts with what is there",
          task.commit.substr(0, 12)))
      .hint("nothing was changed; pick it by hand, or send the task back: guard nightly review send-back");
}

Result<void> decide(Desk& desk, const Task& task, Review review, const std::string& note) {
  if (review == Review::taken && task.review == Review::taken) return ok();
  if (review == Review::taken) {
    if (task.state != TaskState::accepted) {
      return Error(
          ErrorCode::input_invalid, fmt::format("{} was not accepted: there is nothing to take", printable(task.id)))
          .hint("`guard nightly report` says why");
    }
    GUARD_TRY(pick(desk, task));
  }
  return desk.journal.review(task.night, task.id, review, note);
}

Colour colour_of(const CommandContext& context) { return context.streams.out_color ? Colour::on : Colour::off; }

std::string_view done_word(Review review) {
  return review == Review::taken ? "taken" : review == Review::dropped ? "dropped" : "goes back";
}

// One task after the other, with its diff; anything but an answer leaves it as it is.
Result<int> ask(Desk& desk, const SecretSource& secrets, CommandContext& context) {
  OutStream& out = context.streams.out;
  for (const auto& task : desk.tasks) {
    if (task.state != TaskState::accepted || task.review != Review::none) continue;
    GUARD_TRY_ASSIGN(const auto attempts, desk.journal.attempts(task.night, task.id));
    out.print("\n{}\n", nightly::review_text(task, attempts, secrets, colour_of(context)));
    for (;;) {
      out.write("[t]ake, [d]rop, [b]ack, [s]kip, [q]uit? ");
      GUARD_TRY(out.flush());
      std::string answer;
      if (!std::getline(std::cin, answer) || answer == "q") return 0;
      if (answer == "s") break;
      Review review = Review::none;
      std::string note;
      if (answer == "t") review = Review::taken;
      if (answer == "d") review = Review::dropped;
      if (answer == "b") {
        review = Review::sent_back;
        out.write("what is the generator to be told? ");
        GUARD_TRY(out.flush());
        if (!std::getline(std::cin, note)) return 0;
      }
      if (review == Review::none) continue;
      GUARD_TRY(decide(desk, task, review, note));
      out.print("{}: {}\n", printable(task.id), done_word(review));
      break;
    }
  }
  out.write("nothing more to review\n");
  return 0;
}

Result<int> list(Desk& desk, const Options& options, CommandContext& context) {
  if (options.format == OutputFormat::json) {
    nlohmann::ordered_json tasks = nlohmann::ordered_json::array();
    for (const auto& task : desk.tasks) {
      tasks.push_back({{"id", task.id}, {"state", to_string(task.state)}, {"reason", task.reason},
          {"commit", task.commit}, {"night", task.night}, {"review", to_string(task.review)}});
    }
    return write_json(context, {{"version", 1}, {"night", desk.night.id}, {"tasks", tasks}});
  }
  const bool waiting = std::any_of(desk.tasks.begin(), desk.tasks.end(),
      [](const Task& task) { return task.state == TaskState::accepted && task.review == Review::none; });
  GUARD_TRY_ASSIGN(const SecretSource secrets, secrets_of(context.environment));
  if (waiting && context.streams.out_is_terminal && ::isatty(STDIN_FILENO) != 0) return ask(desk, secrets, context);
  std::vector<nightly::Attempt> attempts;
  for (const auto& task : desk.tasks) {
    GUARD_TRY_ASSIGN(auto of_task, desk.journal.attempts(task.night, task.id));
    std::move(of_task.begin(), of_task.end(), std::back_inserter(attempts));
  }
  context.streams.out.print(
      "night {}\n{}", desk.night.id, nightly::review_list(desk.tasks, attempts, secrets, colour_of(context)));
  context.streams.out.write(
      "  next: guard nightly review take|drop|send-back TASK..., or `guard nightly report` for the whole page\n");
  return 0;
}

// By nightly::Standing.
constexpr std::string_view kStandings[] = {"runs in the next night", "taken", "dropped",
    "accepted: take, drop or send it back with `guard nightly review`",
    "refused after all its attempts: `guard nightly retry` runs it again"};

// Every task that ever ran, and what the next night does with it.
Result<int> list_queue(const Options& options, CommandContext& context) {
  CancelToken never;
  GUARD_TRY_ASSIGN(const NightlyPlace place, nightly_place(options, context, never));
  GUARD_TRY_ASSIGN(const Journal journal, Journal::open(place.state.journal(), Journal::Access::read));
  GUARD_TRY_ASSIGN(const auto latest, journal.latest());
  if (options.format == OutputFormat::json) {
    nlohmann::ordered_json document = {{"version", 1}, {"tasks", nlohmann::ordered_json::array()}};
    for (const Task& task : latest) {
      document["tasks"].push_back({{"id", task.id}, {"standing", to_string(nightly::standing_of(task))},
          {"night", task.night}, {"state", to_string(task.state)}, {"reason", task.reason}, {"commit", task.commit}});
    }
    return write_json(context, document);
  }
  for (const Task& task : latest) {
    context.streams.out.print("{:<24} {}  {}\n", printable(task.id), task.night,
        kStandings[static_cast<std::size_t>(nightly::standing_of(task))]);
  }
  return 0;
}

}  // namespace

Result<int> nightly_review(const Options& options, CommandContext& context) {
  if (options.action == Action::list) return list_queue(options, context);
  CancelToken never;
  GUARD_TRY_ASSIGN(Desk desk, open_desk(options, context, never));
  if (options.action == Action::review) return list(desk, options, context);
  const Review review = options.action == Action::take ? Review::taken
      : options.action == Action::drop                 ? Review::dropped
                                                       : Review::sent_back;
  std::vector<const Task*> chosen;
  for (const auto& id : options.arguments) {
    const auto task = std::find_if(desk.tasks.begin(), desk.tasks.end(), [&](const Task& row) { return row.id == id; });
    if (task == desk.tasks.end()) {
      return Error(ErrorCode::input_invalid, fmt::format("night {} has no task {}", desk.night.id, printable(id)))
          .hint("`guard nightly review` lists them");
    }
    chosen.push_back(&*task);
  }
  for (const Task* task : chosen) {
    GUARD_TRY(decide(desk, *task, review, options.note));
    context.streams.out.print("{}: {}\n", printable(task->id), done_word(review));
  }
  return 0;
}

}  // namespace guard
