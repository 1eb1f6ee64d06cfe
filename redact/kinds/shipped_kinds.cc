// The table that kinds_compiler made, in read-only memory.
#include "redact/kinds/kind_table.h"

namespace guard {
namespace {

using std::string_view_literals::operator""sv;  // NOLINT(misc-unused-using-decls): the table uses it

#include "redact/shipped_kinds_tables.inc"

constexpr KindTable kTable{
    std::span(kKinds).first(kKindCount),
    std::span(kRuns).first(kRunCount),
};

}  // namespace

const KindTable& shipped_kind_table() noexcept { return kTable; }

}  // namespace guard
