// The part of the view builder that follows one expression: what its value is, and what it is given to.
#include "validator/views/view_builder.h"

#include <algorithm>

#include "validator/values/known_names.h"

namespace guard {

void ViewBuilder::begin_operand(const Token& at, const Value& value, std::size_t code_begin) {
  now_->open = true;
  now_->operand = value;
  if (now_->operand.end == 0) {
    now_->operand.begin = at.begin;
    now_->operand.end = at.end;
  }
  now_->operand_begin = code_begin;
  now_->tracked = false;
  now_->word = {};
  now_->method = {};
  now_->after_dot = false;
  now_->source_begin = at.begin;
}

// Ends the part of an expression that was read so far and gives its value. `last`: the expression as a whole ends here;
// otherwise another alternative of it follows (a || b, c ? a : b).
Value ViewBuilder::finish(bool last) {
  Value total = now_->has_sum ? join_values(now_->sum, now_->operand, arena_) : now_->operand;
  if (now_->has_sum && !now_->open) total = now_->sum;
  if (!now_->open && !now_->has_sum) total = Value{};
  if (now_->tracked) note_value(last);
  if ((now_->tracked || now_->method == "constructor") && total.kind == Value::Kind::unknown && now_->open &&
      !now_->has_sum && !now_->prefixed && !now_->opaque) {
    if (const std::string_view path = path_of_operand(); !path.empty()) {
      total.kind = Value::Kind::path;
      total.text = arena_.copy(path);
    }
  }
  add_folded(total);
  if (now_->lead == ':' && last) name_property(total);
  if (!now_->declared.empty() || now_->pattern_end != 0) bind(total, last);
  const bool declaration = now_->declaration;
  const bool ambient = declaration && now_->ambient;
  const std::string_view declared = now_->declared;
  const std::uint32_t pattern_first = now_->pattern_first;
  const std::uint32_t pattern_end = now_->pattern_end;
  now_->reset(last ? ';' : now_->lead);
  now_->declaration = declaration;
  now_->ambient = ambient;
  if (!last) {
    now_->declared = declared;
    now_->pattern_first = pattern_first;
    now_->pattern_end = pattern_end;
  }
  return total;
}

void ViewBuilder::bind(const Value& total, bool last) {
  if (now_->annotated) return;
  const bool may_lead =
      now_->tracked || now_->method == "constructor" || (!code_.text().empty() && code_.text().back() == ')');
  const bool alone = now_->open && !now_->has_sum && !now_->opaque && !now_->prefixed;
  const std::string_view path = may_lead && alone ? path_of_operand() : std::string_view();
  const std::uint32_t begin = now_->source_begin;
  if (!now_->declared.empty()) {
    const bool has_value = total.kind != Value::Kind::unknown && total.kind != Value::Kind::path && !now_->opaque;
    if (has_value || last) {
      Value value = has_value ? total : Value{};
      value.lone = false;  // where the name is used, the text is handed to another function
      names_.assign(now_->declared, value);
    }
    if (!path.empty()) add_alias(now_->declared, path, begin, std::max(now_->operand.end, begin + 1));
    if (path.empty() && last && now_->declaration && !now_->ambient && !now_->opaque && now_->operand_known()) {
      declare_shadow(now_->declared, now_->name_token);
    }
  }
  if (now_->pattern_end != 0) {
    bind_pattern(now_->pattern_first, now_->pattern_end, path, alone ? now_->qualified : std::string_view());
  }
}

Value ViewBuilder::end_argument() {
  const bool spread = now_->lead == '.' && now_->prefixed;
  const Value total = finish(true);
  if (spread && total.kind == Value::Kind::list) {
    const std::vector<Value> items = lists_[total.list];
    if (args_.size() - (groups_.empty() ? 0 : groups_.back().args_begin) + items.size() <= kListMax) {
      args_.insert(args_.end(), items.begin(), items.end());
    }
    return total;
  }
  if (args_.size() - (groups_.empty() ? 0 : groups_.back().args_begin) <= kListMax) args_.push_back(total);
  return total;
}

}  // namespace guard
