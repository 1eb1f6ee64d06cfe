// Tables of a SqliteFile, described by rows: a column's name in the file and the member that it keeps. Statements, and
// all that reads, writes or masks whole rows, are made of these.
//
// A number is kept as INTEGER, a text as TEXT, an enum (common/enum_names.h) by its name.
#pragma once

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "common/enum_names.h"
#include "common/sqlite/sqlite.h"

namespace guard {

enum class ColumnUse : std::uint8_t {
  key,   // finds the row
  kept,  // set with the row, and never changed
  saved,
};

using ColumnView = std::variant<std::int64_t, std::string_view>;  // as long as its row
using ColumnValue = std::variant<std::int64_t, std::string>;

template <typename Row>
struct Column {
  std::string_view name;
  ColumnUse use;
  std::string_view type;
  ColumnView (*get)(const Row& row);
  bool (*set)(Row& row, ColumnValue value);  // false: of another type, or a name that is none
  std::string* (*text)(Row& row);            // null: a number or an enum

  void bind(SqliteQuery& query, const Row& row) const {
    std::visit([&query](const auto& value) { query.bind(value); }, get(row));
  }
  Result<void> read(const SqliteQuery& query, int at, Row& row) const {
    if (type == "TEXT" ? set(row, query.text(at)) : set(row, query.integer(at))) return ok();
    return query.unknown(at);
  }
};

template <typename Row>
struct Table {
  std::string_view name;
  std::span<const Column<Row>> columns;

  // Calls visit(std::string&) for each text of a row.
  template <typename Visit>
  void for_each_text(Row& row, Visit&& visit) const {
    for (const auto& column : columns) {
      if (column.text != nullptr) visit(*column.text(row));
    }
  }
};

// `member`: of Row, or a function that answers a reference into it.
template <typename Row, auto member>
constexpr Column<Row> column(std::string_view name, ColumnUse use = ColumnUse::saved) {
  using Value = std::remove_cvref_t<std::invoke_result_t<decltype(member), Row&>>;
  constexpr bool is_string = std::is_same_v<Value, std::string>;
  Column<Row> made{name, use, is_string || std::is_enum_v<Value> ? "TEXT" : "INTEGER", nullptr, nullptr, nullptr};
  made.get = [](const Row& row) -> ColumnView {
    const Value& value = std::invoke(member, row);
    if constexpr (is_string) {
      return std::string_view(value);
    } else if constexpr (std::is_enum_v<Value>) {
      return to_string(value);
    } else {
      return static_cast<std::int64_t>(value);  // the upper half is kept as negative numbers
    }
  };
  made.set = [](Row& row, ColumnValue given) {
    Value& value = std::invoke(member, row);
    constexpr bool is_text = is_string || std::is_enum_v<Value>;
    auto* const from = std::get_if<std::conditional_t<is_text, std::string, std::int64_t>>(&given);
    if (from == nullptr) return false;
    if constexpr (is_string) {
      value = std::move(*from);
    } else if constexpr (std::is_enum_v<Value>) {
      const auto known = named<Value>(*from);
      if (!known) return false;  // never a default
      value = *known;
    } else {
      value = static_cast<Value>(*from);
    }
    return true;
  };
  if constexpr (is_string) made.text = [](Row& row) { return &std::invoke(member, row); };
  return made;
}

inline constexpr std::initializer_list<ColumnUse> kAllColumns = {ColumnUse::key, ColumnUse::kept, ColumnUse::saved};
inline constexpr std::initializer_list<ColumnUse> kSavedColumns = {ColumnUse::saved};
inline constexpr std::initializer_list<ColumnUse> kKeyColumns = {ColumnUse::key};

// make(column) of each column that is used so, joined: "state = ?, reason = ?".
template <typename Row, typename Make>
std::string columns_text(
    const Table<Row>& table, std::initializer_list<ColumnUse> uses, const Make& make, std::string_view between = ", ") {
  std::string text;
  for (const auto& column : table.columns) {
    if (std::find(uses.begin(), uses.end(), column.use) == uses.end()) continue;
    if (!text.empty()) text += between;
    text += make(column);
  }
  return text;
}

// add(row) takes each row that `query` finds; its columns are those of the table, in their order.
template <typename Row, typename Add>
Result<void> read_rows(SqliteQuery& query, const Table<Row>& table, const Add& add) {
  return query.each([&]() -> Result<void> {
    Row row{};
    int at = 0;
    for (const auto& column : table.columns) GUARD_TRY(column.read(query, at++, row));
    add(std::move(row));
    return ok();
  });
}

template <typename Row>
Result<std::vector<Row>> all_rows(SqliteQuery& query, const Table<Row>& table) {
  std::vector<Row> rows;
  GUARD_TRY(read_rows(query, table, [&](Row row) { rows.push_back(std::move(row)); }));
  return rows;
}

template <typename Row>
void bind_row(
    SqliteQuery& query, const Table<Row>& table, const Row& row, std::initializer_list<ColumnUse> uses = kAllColumns) {
  for (const auto& column : table.columns) {
    if (std::find(uses.begin(), uses.end(), column.use) != uses.end()) column.bind(query, row);
  }
}

// "INSERT INTO night (id, state) VALUES (?, ?)".
template <typename Row>
std::string insertion(const Table<Row>& table) {
  const auto name = [](const auto& column) { return std::string(column.name); };
  const auto mark = [](const auto&) { return std::string("?"); };
  return "INSERT INTO " + std::string(table.name) + " (" + columns_text(table, kAllColumns, name) + ") VALUES (" +
      columns_text(table, kAllColumns, mark) + ")";
}

}  // namespace guard
