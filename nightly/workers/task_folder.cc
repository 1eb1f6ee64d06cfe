#include "nightly/workers/task_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <system_error>
#include <type_traits>

#include "common/environment.h"
#include "common/file_io.h"
#include "common/hash.h"
#include "common/text/foreign_json.h"
#include "common/text/text.h"
#include "nightly/loop/journal_tables.h"
#include "nightly/loop/night_repository.h"
#include "pipeline/evidence/evidence_record.h"
#include "runner/process/subprocess.h"

namespace guard::nightly {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using std::chrono::milliseconds;

constexpr std::size_t kUnsignedDetailBytesMax = 500;
constexpr int kFormat = 1;
constexpr std::uint64_t kTaskBytesMax = 8u << 20;
constexpr std::uint64_t kResultBytesMax = 8u << 20;
constexpr std::uint64_t kChangeBytesMax = 64u << 20;
constexpr std::size_t kFilesMax = 1'000;  // as many as Clone::read_change() lists
constexpr std::size_t kRowsMax = 2'000;
constexpr std::string_view kNamespace = "guard-night";
constexpr std::string_view kSigner = "worker";
constexpr milliseconds kSignDeadline{20'000};

Error odd(std::string sentence) {
  return Error(ErrorCode::input_invalid, "the worker's result " + std::move(sentence));
}

// ---- rows as objects: the names of the journal's columns ----

template <typename Row>
Json row_json(const Table<Row>& table, const Row& row) {
  Json object = Json::object();
  for (const auto& column : table.columns)
    std::visit([&](auto value) { object[std::string(column.name)] = value; }, column.get(row));
  return object;
}

template <typename Row>
bool read_row(const nlohmann::json& object, const Table<Row>& table, Row& row) {
  if (!object.is_object()) return false;
  for (const auto& column : table.columns) {
    const auto found = object.find(column.name);
    if (found == object.end()) continue;
    if (found->is_string()) {
      if (!column.set(row, found->template get<std::string>())) return false;
    } else if (!found->is_number_unsigned() || found->template get<std::uint64_t>() > INT64_MAX ||
        !column.set(row, found->template get<std::int64_t>())) {
      return false;
    }
  }
  return true;
}

// What bytes a masked text holds is not known; JSON takes UTF-8 alone.
std::string dumped(const Json& document) { return document.dump(1, ' ', false, Json::error_handler_t::replace) + "\n"; }

std::string text_of(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::string change_name(std::size_t number) { return fmt::format("change-{}", number); }

// A reason is a word of guard's own: it is shown and compared.
bool is_reason(std::string_view text) {
  return !text.empty() && text.size() <= 40 && text.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") == text.npos;
}

// Every key of task.json and the member that it is, for both ways.
template <typename Task, typename Visit>
void for_each_key(Task& task, const Visit& visit) {
  auto& order = task.order;
  visit("night", task.night);
  visit("task", order.task.id);
  visit("attempt", order.number);
  visit("kind", order.task.kind);
  visit("rollout", order.rollout);
  visit("start", order.start);
  visit("object_format", task.object_format);
  visit("prompt", order.task.prompt);
  visit("feedback", order.feedback);
  visit("generator", order.task.generator);
  visit("generator_env", task.generator_env);
  visit("generator_timeout_ms", order.task.generator_timeout);
  visit("time_left_ms", order.time_left);
  visit("allow_left_processes", task.allow_left_processes);
  visit("tests", order.task.tests);
  visit("project", order.task.project);
  visit("config_name", task.config_name);
  visit("config", task.config_text);
  visit("environment", task.environment);
  visit("rules_digest", task.rules_digest);
}

Result<TaskFile> parse_task(const std::string& text) {
  GUARD_TRY_ASSIGN(const auto document, parse_json(text, RepeatedKeys::refused).context("task.json"));
  TaskFile task;
  bool names_are_known = true;
  try {
    if (document.at("format") != kFormat) {
      return Error(ErrorCode::input_invalid, "task.json is of another guard")
          .hint("let the same version work on all machines");
    }
    for_each_key(task, [&](const char* key, auto& value) {
      using Value = std::remove_reference_t<decltype(value)>;
      if constexpr (std::is_same_v<Value, milliseconds>) {
        value = milliseconds(document.at(key).template get<std::int64_t>());
      } else if constexpr (std::is_enum_v<Value>) {
        const auto known = named<Value>(document.at(key).template get<std::string>());
        names_are_known = names_are_known && known;
        value = known.value_or(value);
      } else {
        document.at(key).get_to(value);
      }
    });
    if (document.contains("allow")) document.at("allow").get_to(task.order.task.allow.emplace());
  } catch (const nlohmann::json::exception& wrong) {
    return Error(ErrorCode::input_invalid, fmt::format("task.json: {}", printable(wrong.what())));
  }
  if (!names_are_known || task.order.task.generator.empty())
    return Error(ErrorCode::input_invalid, "task.json has a kind or roll-out that is none, or no generator");
  return task;
}

Result<void> check_writers(const struct stat& info, const fs::path& shown, bool is_sticky) {
  const bool is_ours = info.st_uid == ::geteuid() || info.st_uid == 0;
  if (is_ours && (is_sticky || (info.st_mode & (S_IWGRP | S_IWOTH)) == 0)) return ok();
  return Error(ErrorCode::input_invalid,
      is_ours ? fmt::format("{} may be written by others", printable(shown.native()))
              : fmt::format("{} belongs to user {}", printable(shown.native()), info.st_uid))
      .hint("workers run what it says: let one user run the night and its workers, and chmod go-w (or +t) `shared`");
}

// What nobody but this user and root can have written.
Result<UniqueFd> open_ours(int parent, const fs::path& name, int flags, const fs::path& shown) {
  UniqueFd fd(::openat(parent, name.c_str(), flags | O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat info {};
  if (!fd || ::fstat(fd.get(), &info) != 0) {
    const ErrorCode code = errno == ENOENT   ? ErrorCode::file_not_found
        : errno == ELOOP || errno == ENOTDIR ? ErrorCode::input_invalid
                                             : ErrorCode::io_error;
    return Error::from_errno(code, printable(shown.native()), errno);
  }
  GUARD_TRY(check_writers(info, shown, false));
  return fd;
}

Result<void> copy_or_link(const fs::path& from, const fs::path& to) {
  std::error_code failure;
  fs::create_hard_link(from, to, failure);
  if (failure) fs::copy_file(from, to, failure);
  if (failure) return Error::from_errno(ErrorCode::io_error, printable(to.native()), failure.value());
  return ok();
}

Result<void> sync_folder(const fs::path& folder) {
  const UniqueFd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd || ::fsync(fd.get()) != 0) return Error::from_errno(ErrorCode::io_error, printable(folder.native()), errno);
  return ok();
}

// ssh-keygen finds a key's agent and its home in the environment; of a night's generator it needs nothing else.
Result<void> run_ssh_keygen(std::vector<std::string> argv, std::string stdin_text, const CancelToken& cancel) {
  ProcessSpec spec;
  spec.argv = std::move(argv);
  spec.env = process_environment();
  spec.stdin_text = std::move(stdin_text);
  spec.deadline = Deadline::after(kSignDeadline);
  GUARD_TRY_ASSIGN(const CollectedProcess ran, collect_process(spec, 64u << 10, cancel));
  if (ran.result.outcome.kind == OutcomeKind::exited && ran.result.outcome.value == 0) return ok();
  return Error(ErrorCode::execution_failed, fmt::format("ssh-keygen: {}", printable(cut_text(ran.err, 500, " ..."))));
}

Result<void> sign(const fs::path& file, const fs::path& key, const CancelToken& cancel) {
  return run_ssh_keygen(
      {"ssh-keygen", "-Y", "sign", "-q", "-f", key.native(), "-n", std::string(kNamespace), file.native()}, {}, cancel);
}

// Whether one of `keys` signed `text`. The text names the digest of everything beside it.
Result<void> check_signature(
    const fs::path& result, const std::string& text, const std::vector<std::string>& keys, const CancelToken& cancel) {
  GUARD_TRY_ASSIGN(const std::string signature, read_file(result / "result.json.sig", 64u << 10, FollowLinks::no));
  // ssh-keygen opens the file by its name: a copy stays what was read.
  GUARD_TRY_ASSIGN(const TempDir scratch, TempDir::create());
  std::string allowed;
  for (const auto& key : keys) {
    const char between = key.starts_with("valid-before=") ? ',' : ' ';  // options are one word
    allowed += fmt::format("{} namespaces=\"{}\"{}{}\n", kSigner, kNamespace, between, key);
  }
  GUARD_TRY(write_new_file(scratch.path() / "signature", signature));
  GUARD_TRY(write_new_file(scratch.path() / "allowed", allowed));
  auto verified = run_ssh_keygen(
      {"ssh-keygen", "-Y", "verify", "-f", (scratch.path() / "allowed").native(), "-I", std::string(kSigner), "-n",
          std::string(kNamespace), "-s", (scratch.path() / "signature").native()},
      text, cancel);
  if (verified) return ok();
  if (verified.error().code() != ErrorCode::execution_failed) return std::move(verified).error();
  return odd("is not signed by a key of [executor] signers");
}

// A link in the place of the night's folder would lead to whatever else of ours looks like a task.
Result<UniqueFd> open_task_folder(const fs::path& folder) {
  const fs::path whole = fs::absolute(folder / "").lexically_normal().parent_path();
  GUARD_TRY_ASSIGN(const UniqueFd night, open_ours(AT_FDCWD, whole.parent_path(), O_DIRECTORY, whole.parent_path()));
  return open_ours(night.get(), whole.filename().c_str(), O_DIRECTORY, whole);
}

bool read_lists(const Json& document, Attempt& attempt) {
  bool are_whole = true;
  for_each_list([&](const auto& table) {
    const auto rows = document.find(table.name);
    if (rows == document.end() || !rows->is_array() || rows->size() > kRowsMax) {
      are_whole = false;
      return;
    }
    for (const auto& row : *rows) are_whole = read_row(row, table, (attempt.*table.list).emplace_back()) && are_whole;
  });
  return are_whole;
}

WorkResult put_back_only(std::string_view detail) {
  WorkResult result;
  result.attempt.outcome = AttemptOutcome::requeued;
  result.attempt.reason = "error";
  result.attempt.detail = cut_text(detail, kUnsignedDetailBytesMax, " ...");
  return result;
}

}  // namespace

std::string attempt_name(const std::string& task, std::uint64_t number) { return fmt::format("{}-{}", task, number); }

Result<void> make_night_folder(const fs::path& folder, NightFolder kind) {
  GUARD_TRY(make_folders(kind == NightFolder::is_new ? folder.parent_path() : folder, 0700));
  if (kind == NightFolder::is_new && ::mkdir(folder.c_str(), 0700) != 0) {
    if (errno != EEXIST) return Error::from_errno(ErrorCode::io_error, printable(folder.native()), errno);
    return Error(ErrorCode::input_invalid, fmt::format("{} belongs to another night", printable(folder.native())))
        .hint("start again: each night has a folder of its own");
  }
  struct stat above {};
  if (::stat(folder.parent_path().c_str(), &above) != 0)
    return Error::from_errno(ErrorCode::io_error, printable(folder.parent_path().native()), errno);
  GUARD_TRY(check_writers(above, folder.parent_path(), (above.st_mode & S_ISVTX) != 0));
  GUARD_TRY(open_ours(AT_FDCWD, folder, O_DIRECTORY, folder));
  return ok();
}

Result<std::string> write_task(
    const fs::path& folder, const TaskFile& task, const fs::path& pack, const fs::path& rules) {
  Json document = {{"format", kFormat}};
  for_each_key(task, [&document](const char* key, const auto& value) {
    using Value = std::remove_cvref_t<decltype(value)>;
    if constexpr (std::is_same_v<Value, milliseconds>) {
      document[key] = value.count();
    } else if constexpr (std::is_enum_v<Value>) {
      document[key] = to_string(value);
    } else {
      document[key] = value;
    }
  });
  if (task.order.task.allow) document["allow"] = *task.order.task.allow;
  const std::string text = dumped(document);
  GUARD_TRY(remove_tree(folder));
  GUARD_TRY(make_folders(folder, 0700));
  GUARD_TRY(copy_or_link(pack, folder / "repository.pack"));
  if (!rules.empty()) {
    std::error_code failure;
    fs::copy(rules, folder / "rules", fs::copy_options::recursive, failure);
    if (failure) return Error::from_errno(ErrorCode::io_error, printable(rules.native()), failure.value());
  }
  GUARD_TRY(lock_task(folder));
  // Last: a folder without it is none yet.
  GUARD_TRY(write_file_atomically(folder / "task.json", text, 0600));
  return sha256_hex(text);
}

Result<ReadTask> read_task(const fs::path& folder) {
  GUARD_TRY_ASSIGN(const UniqueFd opened, open_task_folder(folder));
  GUARD_TRY_ASSIGN(const UniqueFd file, open_ours(opened.get(), "task.json", 0, folder / "task.json"));
  GUARD_TRY_ASSIGN(const std::string text, read_all(file.get(), kTaskBytesMax, "task.json"));
  return ReadTask{sha256_hex(text), parse_task(text)};
}

Result<std::optional<UniqueFd>> lock_task(const fs::path& folder) {
  GUARD_TRY_ASSIGN(const UniqueFd opened, open_task_folder(folder));
  UniqueFd fd(::openat(opened.get(), "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (fd && ::flock(fd.get(), LOCK_EX | LOCK_NB) == 0) return std::optional(std::move(fd));
  if (fd && errno == EWOULDBLOCK) return std::optional<UniqueFd>();
  return Error::from_errno(ErrorCode::io_error, printable((folder / "lock").native()), errno)
      .hint("mount [executor] shared so that it can lock files (flock) on all machines");
}

bool has_result(const fs::path& folder) {
  std::error_code failure;
  return fs::exists(fs::symlink_status(folder / "result", failure));
}

Result<void> write_result(const fs::path& folder, const std::string& task_sha256, const WorkResult& result,
    const fs::path& key, const CancelToken& cancel) {
  const fs::path made = folder / "result.new";  // of a worker that was killed, where it is there
  GUARD_TRY(remove_tree(made));
  // Never the folder itself: its coordinator may have given the task up.
  if (::mkdir(made.c_str(), 0700) != 0) return Error::from_errno(ErrorCode::io_error, printable(made.native()), errno);
  Json digests = Json::object();
  const auto put = [&](const std::string& name, std::string_view bytes) -> Result<void> {
    digests[name] = sha256_hex(bytes);
    return write_file_atomically(made / name, bytes, 0600);
  };
  Json document = {{"format", kFormat}, {"task_sha256", task_sha256}, {"attempt", row_json(kAttempts, result.attempt)}};
  bool is_too_large = false;
  for_each_list([&](const auto& table) {
    Json& rows = document[std::string(table.name)] = Json::array();
    for (const auto& row : result.attempt.*table.list) rows.push_back(row_json(table, row));
    is_too_large = is_too_large || rows.size() > kRowsMax;
  });
  document["change"] = Json::array();
  std::uint64_t change_bytes = 0;
  if (result.attempt.outcome == AttemptOutcome::accepted) {
    for (const auto& file : result.change.files) {
      const std::size_t number = document["change"].size();
      document["change"].push_back({{"path", file.path},
          {"kind",
              file.after == EntryKind::absent           ? "absent"
                  : file.after == EntryKind::executable ? "executable"
                                                        : "file"}});
      if (file.after == EntryKind::absent) continue;
      change_bytes += file.new_bytes.size();
      GUARD_TRY(put(change_name(number), file.new_bytes));
    }
  }
  if (!result.log.empty()) GUARD_TRY(put("log.txt", result.log));
  if (!result.evidence.empty()) GUARD_TRY(put("evidence.json", result.evidence));
  document["digests"] = std::move(digests);
  const std::string text = dumped(document);
  if (is_too_large || text.size() > kResultBytesMax || change_bytes > kChangeBytesMax ||
      result.change.files.size() > kFilesMax)
    return Error(ErrorCode::input_invalid, "the change, or what is said of it, is larger than a result may be");
  GUARD_TRY(write_file_atomically(made / "result.json", text, 0600));
  if (!key.empty()) GUARD_TRY(sign(made / "result.json", key, cancel));
  GUARD_TRY(sync_folder(made));
  if (::rename(made.c_str(), (folder / "result").c_str()) != 0)
    return Error::from_errno(ErrorCode::io_error, printable((folder / "result").native()), errno);
  return sync_folder(folder);
}

Result<void> try_key(const fs::path& key, const fs::path& scratch, const CancelToken& cancel) {
  GUARD_TRY(write_new_file(scratch / "trial", ""));
  return sign(scratch / "trial", key, cancel);
}

Result<WorkResult> read_result(
    const fs::path& folder, const std::string& task_sha256, const WorkerKeys& keys, const CancelToken& cancel) {
  const fs::path place = folder / "result";
  std::error_code failure;
  const auto status = fs::symlink_status(place, failure);
  if (status.type() == fs::file_type::none)
    return Error::from_errno(ErrorCode::io_error, printable(place.native()), failure.value());
  if (!fs::is_directory(status)) return odd("is no folder");
  GUARD_TRY_ASSIGN(const std::string text, read_file(place / "result.json", kResultBytesMax, FollowLinks::no));
  const bool is_trusted = !keys.trusted.empty() && check_signature(place, text, keys.trusted, cancel);
  const Result<void> is_signed =
      keys.signers.empty() || is_trusted ? ok() : check_signature(place, text, keys.signers, cancel);
  GUARD_TRY_ASSIGN(const auto document,
      parse_json(text, RepeatedKeys::refused, {.values = 100'000, .containers = 20'000})
          .context("the worker's result"));
  if (!document.is_object() || document.value("format", nlohmann::json()) != kFormat) return odd("is of another guard");
  if (text_of(document, "task_sha256") != task_sha256) return odd("belongs to another task or attempt");

  // Before anything else is read: what it says it consists of.
  const auto digests = document.find("digests");
  if (digests == document.end() || !digests->is_object() || digests->size() > kFilesMax + 2)
    return odd("has no digests");
  std::uint64_t left = kChangeBytesMax;
  const auto file = [&](const std::string& name, std::uint64_t bytes_max) -> Result<std::string> {
    GUARD_TRY_ASSIGN(std::string bytes, read_file(place / name, bytes_max, FollowLinks::no));
    if (text_of(*digests, name.c_str()) != sha256_hex(bytes)) return odd(fmt::format("holds another {}", name));
    return bytes;
  };

  WorkResult result;
  result.is_trusted = is_trusted;
  const auto attempt = document.find("attempt");
  if (attempt == document.end() || !read_row(*attempt, kAttempts, result.attempt)) return odd("tells no attempt");
  if (result.attempt.outcome == AttemptOutcome::none || result.attempt.outcome == AttemptOutcome::interrupted)
    return odd("has no outcome");
  if (!is_signed) {
    // It may say why nothing came of it, and no more.
    if (result.attempt.outcome != AttemptOutcome::requeued) return is_signed.error();
    return put_back_only(result.attempt.detail);
  }
  if (result.attempt.outcome != AttemptOutcome::accepted && !is_reason(result.attempt.reason))
    return odd("has a reason that is none");
  if (!read_lists(document, result.attempt)) return odd("has lists that cannot be read");

  if (digests->contains("log.txt")) {
    GUARD_TRY_ASSIGN(result.log, file("log.txt", kLogBytesMax));
  }
  if (digests->contains("evidence.json")) {
    GUARD_TRY_ASSIGN(result.evidence, file("evidence.json", kEvidenceBytesMax));
  }
  if (result.attempt.outcome != AttemptOutcome::accepted) return result;

  const auto change = document.find("change");
  if (change == document.end() || !change->is_array() || change->empty() || change->size() > kFilesMax)
    return odd("has no change");
  std::set<std::string> paths;
  for (std::size_t i = 0; i < change->size(); ++i) {
    const auto& entry = (*change)[i];
    if (!entry.is_object()) return odd("has a change that cannot be read");
    ChangedFile changed;
    changed.path = text_of(entry, "path");
    const std::string kind = text_of(entry, "kind");
    if (!is_path_for_a_tree(changed.path) || !paths.insert(changed.path).second)
      return odd(
          fmt::format("names {}, which is no path for a commit, or stands there twice", printable(changed.path)));
    if (kind != "file" && kind != "executable" && kind != "absent")
      return odd(fmt::format("has {} as what is neither a file nor gone", printable(changed.path)));
    if (kind != "absent") {
      changed.after = kind == "file" ? EntryKind::file : EntryKind::executable;
      GUARD_TRY_ASSIGN(changed.new_bytes, file(change_name(i), left));
      left -= changed.new_bytes.size();
    }
    result.change.files.push_back(std::move(changed));
  }
  return result;
}

}  // namespace guard::nightly
