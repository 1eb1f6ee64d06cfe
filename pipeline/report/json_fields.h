// One list of a document's fields that writes it and reads it again: a function that names each field once with the
// value that it stands for.
//
//   void visit(JsonFields& fields, Person& person) { fields("name", person.name); }
//
// Reading takes for granted that the document fits its schema (json_schema.h): a field that is missing or null leaves
// its value as it is.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "common/time.h"
#include "pipeline/report/json_parts.h"
#include "rules/rule.h"

namespace guard {

inline std::string_view to_string(Severity severity) noexcept { return severity == Severity::block ? "block" : "note"; }

class JsonFields {
 public:
  using Out = nlohmann::ordered_json;
  using In = nlohmann::json;

  explicit JsonFields(Out& written) : out_(&written) {}
  explicit JsonFields(const In& read) : in_(&read) {}

  bool reads() const noexcept { return in_ != nullptr; }

  template <typename Value>
  void operator()(const char* key, Value&& value) {
    if (out_ != nullptr) {
      (*out_)[key] = put(value);
    } else if constexpr (!std::is_const_v<std::remove_reference_t<Value>>) {
      if (const In* found = find(key)) get(*found, value);
    }
  }

  // A text that is null where it is empty.
  template <typename Text>
  void or_null(const char* key, Text&& text) {
    if (out_ != nullptr && text.empty()) {
      (*out_)[key] = nullptr;
    } else {
      (*this)(key, text);
    }
  }

  // What is left out where it is empty.
  template <typename Value>
  void if_any(const char* key, Value&& value) {
    if (out_ == nullptr || !value.empty()) (*this)(key, value);
  }

  // An object, or null where it is not there: `fields_of` is then not called.
  template <typename FieldsOf>
  void part(const char* key, bool there, FieldsOf fields_of) {
    if (out_ != nullptr) {
      Out& inner = (*out_)[key] = nullptr;
      if (!there) return;
      inner = Out::object();
      JsonFields fields(inner);
      fields_of(fields);
    } else if (const In* found = find(key)) {
      JsonFields fields(*found);
      fields_of(fields);
    }
  }

  // The same of a value that is then not there either. `fields_of` also gets the value.
  template <typename Optional, typename FieldsOf>
  void part(const char* key, Optional& value, FieldsOf fields_of) {
    part(key, value.has_value(), [&](JsonFields& fields) {
      if constexpr (!std::is_const_v<Optional>) {
        if (fields.reads()) value.emplace();
      }
      fields_of(fields, *value);
    });
  }

  // A list of objects.
  template <typename Rows, typename FieldsOf>
  void rows(const char* key, Rows& rows, FieldsOf fields_of) {
    if (out_ != nullptr) {
      Out& list = (*out_)[key] = Out::array();
      for (auto& row : rows) {
        JsonFields fields(list.emplace_back(Out::object()));
        fields_of(fields, row);
      }
    } else if constexpr (!std::is_const_v<Rows>) {
      const In* found = find(key);
      for (std::size_t i = 0; found != nullptr && i < found->size(); ++i) {
        JsonFields fields((*found)[i]);
        fields_of(fields, rows.emplace_back());
      }
    }
  }

 private:
  const In* find(const char* key) const {
    const auto found = in_->find(key);
    return found == in_->end() || found->is_null() ? nullptr : &*found;
  }

  template <typename Value>
  static Out put(const Value& value) {
    if constexpr (std::is_convertible_v<const Value&, std::string_view>) {
      return clean(value);
    } else if constexpr (std::is_enum_v<Value>) {
      return to_string(value);
    } else if constexpr (std::is_same_v<Value, Out> || std::is_arithmetic_v<Value>) {
      return value;
    } else {
      return put_many(value);
    }
  }
  static Out put(milliseconds time) { return time.count(); }

  static Out put_many(const std::vector<std::string>& texts) {
    Out list = Out::array();
    for (const auto& text : texts) list.push_back(clean(text));
    return list;
  }
  template <typename Pairs>
  static Out put_many(const Pairs& pairs) {
    Out table = Out::object();
    for (const auto& [key, value] : pairs) table[clean(key)] = put(value);
    return table;
  }

  template <typename Value>
  static void get(const In& json, Value& value) {
    if constexpr (std::is_enum_v<Value>) {
      // The schema knows the names of all.
      const auto name = json.get<std::string>();
      for (int i = 0; i < 256 && to_string(value = static_cast<Value>(i)) != name; ++i) continue;
    } else {
      json.get_to(value);
    }
  }
  static void get(const In& json, milliseconds& time) { time = milliseconds(json.get<std::int64_t>()); }
  template <typename Value>
  static void get(const In& json, std::vector<std::pair<std::string, Value>>& rows) {
    for (const auto& [key, value] : json.items()) get(value, rows.emplace_back(key, Value()).second);
  }

  Out* out_ = nullptr;
  const In* in_ = nullptr;
};

// ---- what several documents have in common ----

// Where a finding stands, and by which rule.
template <typename Finding>
void finding_place_fields(JsonFields& fields, Finding& finding) {
  fields("rule", finding.rule);
  fields("tier", finding.tier);
  fields("severity", finding.severity);
  fields("path", finding.path);
  fields("line", finding.line);
  fields("column", finding.column);
}

// What was asked for. `keep_bytes`: the cap of the output.
template <typename Spec, typename Count>
void limits_fields(JsonFields& fields, Spec& spec, Count& keep_bytes) {
  auto& limits = spec.limits;
  fields("memory_bytes", limits.memory_bytes);
  fields("cpus", limits.cpus);
  fields("pids", limits.pids);
  fields("tmp_bytes", limits.tmp_bytes);
  fields("sandbox_bytes", limits.sandbox_bytes);
  fields("sandbox_files", limits.sandbox_files);
  fields("output_flood_bytes", limits.output_flood_bytes);
  fields("open_files", limits.open_files);
  fields("file_bytes", limits.file_bytes);
  fields("timeout_ms", spec.timeout);
  fields("grace_ms", spec.grace);
  fields("network", spec.network);
  fields("output_keep_bytes", keep_bytes);
}

// Which connections the proxy of an allowlist was asked for; of a NetworkRecord.
template <typename Record>
void network_fields(JsonFields& fields, Record& record) {
  fields.rows("connections", record.lines, [](JsonFields& row, auto& line) {
    row("host", line.host);
    row("port", line.port);
    row("allowed", line.allowed);
    row("reason", line.reason);
    row("connections", line.connections);
    row("bytes_up", line.bytes_up);
    row("bytes_down", line.bytes_down);
  });
  fields("more", record.more);
}

}  // namespace guard
