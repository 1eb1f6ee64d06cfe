// The evidence record of a run: one JSON document that says what was run, on what, under which limits, and what came of
// it. docs/evidence.md describes it, docs/evidence.schema.json is its schema, guard verify checks it
// (evidence_check.h).
//
// What is read may have been written by anybody: what cannot be read in exactly one way is refused.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "common/time.h"
#include "pipeline/run_record.h"

namespace guard {

// Raised when a field changes its meaning or goes away; new fields alone do not raise it.
inline constexpr int kEvidenceVersion = 1;

// A record lists every file of a project and every finding; this is ten times what the largest projects come to.
inline constexpr std::uint64_t kEvidenceBytesMax = 32u << 20;

// `record` is masked (masked_record.h). `exit_status`: the one that guard ends with.
std::string evidence_document(const RunRecord& record, std::string_view guard_version, int exit_status);

// "20300131T120000Z-r0123456789.json": files of a folder sort by the time the runs started.
std::string evidence_file_name(const RunRecord& record);

// What a document says. Of `run`, `facts` are always there; bun, image, rules and configuration that it does not know
// are empty in them, and `spec` is there where it tells limits. `run.tests` holds failed cases alone.
struct EvidenceRecord {
  RunRecord run;
  std::string guard_version;
  std::string verdict;
  std::string reason;  // not always one of verdict.h
  std::string detail;
  std::string check_verdict;
  std::string check_reason;
  std::uint64_t exit_status = 0;
  std::string network;
  std::string started;  // 2030-01-31T12:00:00.000Z
  std::string ended;
  std::string files_digest;
  std::string config_digest;
  std::map<std::string, std::string> config;   // key -> value
  std::map<std::string, std::string> origins;  // key -> where the value comes from, if it is not the default
  std::uint64_t attested_ran = 0;              // tests, where run.exec->attested is
  std::uint64_t attested_expected_failures = 0;
  std::vector<std::string> widenings;  // run.relaxations by their old name
};

// INPUT_INVALID: not one JSON object in UTF-8, a key twice in one object, nested deeper than any record, or of a
// version that this guard does not know. The shape is not looked at otherwise.
Result<nlohmann::json> parse_evidence(std::string_view bytes);

// What is missing or of another type than docs/evidence.schema.json says, a sentence each. Fields that this guard does
// not know are no fault.
std::vector<std::string> shape_faults(const nlohmann::json& document);

// `document` has no shape_faults().
EvidenceRecord read_evidence(const nlohmann::json& document);

// The same record with one more relaxation: of whoever relies on it in a way that the run knew nothing of. `document`
// has no shape_faults().
std::string with_relaxation(std::string_view document, const std::string& sentence);

// The configuration of the run as the record has it: what it does not say, or as no configuration could, is the
// default. Without variables and waivers.
Config recorded_config(const EvidenceRecord& record);

// "2030-01-31T12:00:00.000Z" and back; nothing where there is no such day or hour.
using EvidenceTime = std::chrono::sys_time<milliseconds>;
std::string time_text(EvidenceTime when);
std::optional<EvidenceTime> time_of(const std::string& text);

// The digests that anybody can make again with common tools; docs/evidence.md says how.

// SHA-256 over "hash  path\n" of every file in the order of the paths: what `sha256sum` prints.
std::string files_digest(const std::map<std::string, std::string>& sha256_by_path);
// SHA-256 over "key = value\n" of every key in the order of the keys.
std::string config_digest(const std::map<std::string, std::string>& value_by_key);

// A document ends with its digest: the SHA-256 of the whole with 64 zeros in its place. Writes it over what is there.
void write_digest(std::string& document);
// The digest as it stands at the end; nothing where it does not end like a record.
std::optional<std::string_view> written_digest(std::string_view document);
// The digest that `document` ought to have. It has to end like a record.
std::string document_digest(std::string_view document);

}  // namespace guard
