#include "pipeline/evidence/evidence_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <span>

#include "common/text/foreign_json.h"
#include "common/text/text.h"
#include "pipeline/evidence/evidence_document.h"

// The shape is a table of fields. A field below an object that may be null is looked at only where the object is there.

namespace guard {
namespace {

using nlohmann::json;

enum class Shape : std::uint8_t {
  text,
  text_or_null,
  time,  // 2030-01-31T12:00:00.000Z
  hash,  // SHA-256 in 64 lower-case hex digits
  hash_or_null,
  count,
  integer,
  number,
  boolean,
  object,
  object_or_null,
  texts,   // a list of texts
  list,    // of objects, see kRows
  table,   // name -> text
  hashes,  // name -> SHA-256
  counts,  // name -> count
};

struct Field {
  std::string_view path;  // "config.digest"
  Shape shape;
};

constexpr Field kFields[] = {
    {"version", Shape::count},
    {"guard", Shape::object},
    {"guard.version", Shape::text},
    {"guard.sha256", Shape::hash_or_null},
    {"run_id", Shape::text},
    {"started", Shape::time},
    {"ended", Shape::time},
    {"timings_ms", Shape::counts},
    {"project", Shape::text},
    {"files_asked", Shape::texts},
    {"command", Shape::texts},
    {"backend", Shape::text_or_null},
    {"why_backend", Shape::text_or_null},
    {"tiers", Shape::texts},
    {"network", Shape::text_or_null},
    {"engine", Shape::object_or_null},
    {"engine.endpoint", Shape::text_or_null},
    {"engine.version", Shape::text_or_null},
    {"engine.facts", Shape::table},
    {"kernel", Shape::text_or_null},
    {"bun", Shape::object_or_null},
    {"bun.version", Shape::text_or_null},
    {"bun.sha256", Shape::hash},
    {"image", Shape::object_or_null},
    {"image.reference", Shape::text},
    {"image.id", Shape::text_or_null},
    {"image.content_digest", Shape::hash_or_null},
    {"image.layer_sha256", Shape::hash_or_null},
    {"rules", Shape::object_or_null},
    {"rules.digest", Shape::hash},
    {"rules.folder", Shape::text_or_null},
    {"config", Shape::object_or_null},
    {"config.file", Shape::text_or_null},
    {"config.file_sha256", Shape::hash_or_null},
    {"config.digest", Shape::hash},
    {"config.values", Shape::table},
    {"config.origins", Shape::table},
    {"files", Shape::object},
    {"files.staged", Shape::boolean},
    {"files.digest", Shape::hash},
    {"files.sha256", Shape::hashes},
    {"left_out", Shape::texts},
    {"limits", Shape::object_or_null},
    {"limits.memory_bytes", Shape::count},
    {"limits.cpus", Shape::number},
    {"limits.pids", Shape::count},
    {"limits.tmp_bytes", Shape::count},
    {"limits.sandbox_bytes", Shape::count},
    {"limits.sandbox_files", Shape::count},
    {"limits.output_flood_bytes", Shape::count},
    {"limits.open_files", Shape::count},
    {"limits.file_bytes", Shape::count},
    {"limits.timeout_ms", Shape::count},
    {"limits.grace_ms", Shape::count},
    {"limits.network", Shape::text},
    {"limits.output_keep_bytes", Shape::count},
    {"jobs", Shape::count},
    {"enforced_by", Shape::table},
    {"seen_inside", Shape::table},
    {"relaxations", Shape::texts},
    {"widenings", Shape::texts},
    {"verdict", Shape::text},
    {"reason", Shape::text},
    {"detail", Shape::text},
    {"exit_status", Shape::count},
    {"outcome", Shape::object_or_null},
    {"outcome.kind", Shape::text},
    {"outcome.value", Shape::integer},
    {"outcome.detail", Shape::text},
    {"tests", Shape::object_or_null},
    {"tests.tests", Shape::count},
    {"tests.passed", Shape::count},
    {"tests.failed", Shape::count},
    {"tests.skipped", Shape::count},
    {"tests.assertions", Shape::count},
    {"tests.files", Shape::list},
    {"tests.failures", Shape::list},
    {"report_sha256", Shape::hash_or_null},
    {"attested", Shape::object_or_null},
    {"attested.ran", Shape::count},
    {"attested.expected_failures", Shape::count},
    {"attested.redirected", Shape::boolean},
    {"attestation_forged", Shape::boolean},
    {"output", Shape::object},
    {"output.stdout_bytes", Shape::count},
    {"output.stderr_bytes", Shape::count},
    {"output.kept_bytes", Shape::count},
    {"output.dropped_bytes", Shape::count},
    {"output.kept_stdout_sha256", Shape::hash_or_null},
    {"output.kept_stderr_sha256", Shape::hash_or_null},
    {"output.redactions", Shape::counts},
    {"output.not_masked", Shape::table},
    {"resources", Shape::object_or_null},
    {"resources.wall_ms", Shape::count},
    {"resources.cpu_ms", Shape::count},
    {"resources.memory_peak_bytes", Shape::count},
    {"check", Shape::object_or_null},
    {"check.verdict", Shape::text},
    {"check.reason", Shape::text},
    {"check.mode", Shape::text},
    {"check.files", Shape::count},
    {"check.bytes", Shape::count},
    {"check.findings", Shape::list},
    {"check.waived", Shape::list},
    {"collected", Shape::object_or_null},
    {"collected.mode", Shape::text},
    {"collected.sha256", Shape::hashes},
    {"collected.left_behind", Shape::count},
    {"collected.complete", Shape::boolean},
    {"notes", Shape::texts},
    {"error", Shape::object_or_null},
    {"error.code", Shape::text},
    {"error.message", Shape::text},
    {"error.context", Shape::texts},
    {"digest", Shape::hash},
};

constexpr Field kTestFile[] = {{"file", Shape::text}, {"tests", Shape::count}, {"failed", Shape::count},
    {"skipped", Shape::count}, {"assertions", Shape::count}};
constexpr Field kFailure[] = {{"file", Shape::text}, {"line", Shape::count}, {"name", Shape::text}};
constexpr Field kFinding[] = {{"rule", Shape::text}, {"tier", Shape::text}, {"severity", Shape::text},
    {"path", Shape::text}, {"line", Shape::count}, {"column", Shape::count}, {"fingerprint", Shape::text}};
constexpr Field kWaived[] = {{"rule", Shape::text}, {"tier", Shape::text}, {"severity", Shape::text},
    {"path", Shape::text}, {"line", Shape::count}, {"column", Shape::count}, {"fingerprint", Shape::text},
    {"reason", Shape::text}, {"expires", Shape::text}};

// The fields of each object in a list.
struct Row {
  std::string_view list;
  std::span<const Field> fields;
};
constexpr Row kRows[] = {
    {"tests.files", kTestFile}, {"tests.failures", kFailure}, {"check.findings", kFinding}, {"check.waived", kWaived}};

bool is_hash(const json& value) {
  if (!value.is_string()) return false;
  const auto& text = value.get_ref<const std::string&>();
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

bool is_time(const json& value) {
  constexpr std::string_view kForm = "0000-00-00T00:00:00.000Z";
  if (!value.is_string()) return false;
  const auto& text = value.get_ref<const std::string&>();
  return text.size() == kForm.size() && std::equal(text.begin(), text.end(), kForm.begin(), [](char c, char form) {
    return form == '0' ? c >= '0' && c <= '9' : c == form;
  });
}

template <typename Test>
bool all(const json& values, Test test) {
  return std::all_of(values.begin(), values.end(), test);
}

bool is_text(const json& value) { return value.is_string(); }

bool has_shape(const json& value, Shape shape) {
  switch (shape) {
    case Shape::text: return value.is_string();
    case Shape::text_or_null: return value.is_null() || value.is_string();
    case Shape::time: return is_time(value);
    case Shape::hash: return is_hash(value);
    case Shape::hash_or_null: return value.is_null() || is_hash(value);
    case Shape::count: return value.is_number_unsigned();
    case Shape::integer: return value.is_number_integer();
    case Shape::number: return value.is_number();
    case Shape::boolean: return value.is_boolean();
    case Shape::object: return value.is_object();
    case Shape::object_or_null: return value.is_null() || value.is_object();
    case Shape::texts: return value.is_array() && all(value, is_text);
    case Shape::list: return value.is_array() && all(value, [](const json& item) { return item.is_object(); });
    case Shape::table: return value.is_object() && all(value, is_text);
    case Shape::hashes: return value.is_object() && all(value, is_hash);
    case Shape::counts:
      return value.is_object() && all(value, [](const json& item) { return item.is_number_unsigned(); });
  }
  return false;
}

// The object that holds `path`; null where a parent is null or missing, which is the parent's own fault.
const json* parent_of(const json& record, std::string_view path, std::string_view& name) {
  const std::size_t dot = path.find('.');
  name = path.substr(dot == std::string_view::npos ? 0 : dot + 1);
  if (dot == std::string_view::npos) return &record;
  const auto parent = record.find(path.substr(0, dot));
  return parent != record.end() && parent->is_object() ? &*parent : nullptr;
}

void check_field(const json& parent, std::string_view name, const Field& field, std::string_view place,
    std::vector<std::string>& faults) {
  const auto value = parent.find(name);
  if (value == parent.end()) {
    faults.push_back(fmt::format("{}{} is missing", place, field.path));
  } else if (!has_shape(*value, field.shape)) {
    faults.push_back(fmt::format("{}{} is of another type", place, field.path));
  }
}

void check_rows(const json& record, const Row& row, std::vector<std::string>& faults) {
  std::string_view name;
  const json* parent = parent_of(record, row.list, name);
  if (parent == nullptr) return;
  const auto list = parent->find(name);
  if (list == parent->end() || !has_shape(*list, Shape::list)) return;
  for (std::size_t i = 0; i < list->size(); ++i) {
    for (const auto& field : row.fields)
      check_field((*list)[i], field.path, field, fmt::format("{}[{}].", row.list, i), faults);
  }
}

Error refuse(std::string sentence) {
  return Error(ErrorCode::input_invalid, std::move(sentence)).hint("name a file that `guard run --record` has written");
}

}  // namespace

Result<json> parse_evidence(std::string_view bytes) {
  // Which of two values counts would depend on the reader.
  auto parsed = parse_json(bytes, RepeatedKeys::refused);
  if (!parsed) return refuse(fmt::format("this is no evidence record: it {}", parsed.error().message()));
  const json& record = *parsed;
  if (!record.is_object()) return refuse("this is no evidence record: it is not a JSON object");
  const auto version = record.find("version");
  if (version == record.end() || !version->is_number_unsigned())
    return refuse("this is no evidence record: it has no version");
  if (*version != kEvidenceVersion) {
    return Error(ErrorCode::input_invalid,
        fmt::format("the record is of version {}; this guard reads version {}", version->dump(), kEvidenceVersion))
        .hint("check it with the guard that wrote it, or a newer one");
  }
  return parsed;
}

std::vector<std::string> shape_faults(const json& record) {
  std::vector<std::string> faults;
  for (const auto& field : kFields) {
    std::string_view name;
    if (const json* parent = parent_of(record, field.path, name)) check_field(*parent, name, field, "", faults);
  }
  for (const auto& row : kRows) check_rows(record, row, faults);
  return faults;
}

}  // namespace guard
