// The part of the view builder that opens and closes brackets: calls, lists, objects, templates, parentheses.
#include "validator/views/view_builder.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "validator/values/known_names.h"
#include "validator/views/view_text.h"

namespace guard {
namespace {

constexpr std::size_t kGroupsMax = 100'000;

// What stands in parentheses behind these is no list of parameters.
bool is_condition_word(std::string_view text) noexcept {
  return text == "if" || text == "while" || text == "for" || text == "switch" || text == "with" || text == "catch";
}

}  // namespace

void ViewBuilder::open_group(char open, std::uint32_t index) {
  const Token& at = tokens_[index];
  if (groups_.size() >= kGroupsMax) {
    put(source_of(at), at);
    return;
  }
  if (open == '{' && index == closed_end_ && closed_end_ != 0) {
    shadow_parameters(index);
    name_function(index);
  }
  const std::string_view scope = open == '{' ? scope_of_object() : std::string_view();
  Group& group = groups_.emplace_back();
  group.open = open;
  group.call = now_->open && !now_->in_type && (open == '(' || open == '[') && !now_->annotated;
  group.condition = open == '(' && !now_->open && index > 0 && tokens_[index - 1].kind == TokenKind::word &&
      is_condition_word(source_of(tokens_[index - 1]));
  group.code_begin = code_.size();
  group.callee_begin = now_->open ? now_->operand_begin : code_.size();
  group.args_begin = args_.size();
  group.source_begin = at.begin;
  group.token = index;
  group.outer = now_;
  group.scope = scope;
  put(source_of(at), at);
  if (expressions_.size() <= groups_.size()) expressions_.emplace_back();
  now_ = &expressions_[groups_.size()];
  now_->reset(open == '$' ? '`' : open);
}

void ViewBuilder::close_group(char open, std::uint32_t index) {
  constexpr std::size_t kSearchMax = 64;
  const Token& at = tokens_[index];
  std::size_t depth = 0;
  while (depth < groups_.size() && depth < kSearchMax && groups_[groups_.size() - 1 - depth].open != open) ++depth;
  if (depth == groups_.size() || depth == kSearchMax) {
    finish(true);
    put(source_of(at), at);
    return;
  }
  for (; depth > 0; --depth) {
    finish(true);
    now_ = groups_.back().outer;
    args_.resize(groups_.back().args_begin);
    groups_.pop_back();
  }
  Group group = groups_.back();
  if (!shadows_.empty()) {
    const std::size_t depth_now = groups_.size();
    std::erase_if(shadows_, [&](const Shadow& shadow) {
      return shadow.end == UINT32_MAX ? shadow.depth >= depth_now && shadow.depth > 0 : shadow.end <= index;
    });
  }
  if (open == '(') {
    closed_first_ = group.token;
    closed_end_ = index + 1;
    closed_condition_ = group.condition;
  }
  switch (open) {
    case '(':
      if (group.call) {
        close_call(group, at);
      } else {
        close_plain(group, at);
      }
      break;
    case '[': close_square(group, at); break;
    case '{':
    case '$': {
      const Value total = finish(true);
      groups_.pop_back();
      now_ = group.outer;
      put(source_of(at), at);
      if (open == '$') {
        args_.resize(std::min(args_.size(), group.args_begin));
        if (!now_->sum.is_text()) break;
        Value unknown;
        unknown.begin = group.source_begin;
        unknown.end = at.end;
        Value part = total.is_text() || total.kind == Value::Kind::number ? total : unknown;
        part.end = at.end;
        const Value sum = join_values(now_->sum, part, arena_);
        now_->sum = sum.is_text() ? sum : Value{};
      } else if (!now_->in_type) {
        const std::uint32_t first = now_->pattern_first;
        const std::uint32_t end = now_->pattern_end;
        begin_operand(at, Value{}, group.code_begin);
        now_->pattern_first = first;
        now_->pattern_end = end;
      }
      break;
    }
    default: {  // a template
      Value total = now_->sum;
      total.begin = group.source_begin;
      total.end = at.end;
      if (total.is_text()) add_entry(callee_here(), total.text, total.begin, total.end);
      groups_.pop_back();
      now_ = group.outer;
      put("`", at);
      total.lone = true;
      if (now_->in_type) break;
      if (group.tagged) {
        total.lone = false;
        begin_operand(at, group.raw ? total : Value{}, group.callee_begin);
      } else {
        begin_operand(at, total, group.code_begin);
      }
      break;
    }
  }
  if (open != '$') args_.resize(std::min(args_.size(), group.args_begin));
}

// (x), (x as T), (0, x): one operand needs no parentheses.
void ViewBuilder::close_plain(Group& group, const Token& at) {
  const std::size_t earlier = args_.size() - group.args_begin;
  const std::string_view code = code_.text();
  const std::size_t end = now_->type_begin != 0 ? now_->type_begin : code.size();
  const bool single = now_->open && !now_->has_sum && !now_->prefixed && !now_->opaque;
  const bool alone = earlier == 0 && now_->operand_begin == group.code_begin + 1;
  const bool behind_constant =
      earlier == 1 && (args_.back().kind == Value::Kind::text || args_.back().kind == Value::Kind::number);
  const bool unwrap =
      single && (alone || behind_constant) && end > now_->operand_begin && end - now_->operand_begin <= kOperandCodeMax;
  const std::string operand(unwrap ? code.substr(now_->operand_begin, end - now_->operand_begin) : std::string_view());
  const std::string_view word = single && alone ? now_->word : std::string_view();
  const std::string_view qualified = alone ? now_->qualified : std::string_view();
  const std::string_view method = now_->method;
  const Value receiver = now_->receiver;
  const bool tracked = now_->tracked;
  const Value total = finish(true);
  if (!handed_roots_.empty()) {
    const std::uint32_t next = index_ + 1;
    const bool names = group.condition || unwrap || is_arrow_head(next, group.outer->lead == '?');
    if (names) {
      while (!handed_roots_.empty() && handed_roots_.back().group >= groups_.size()) handed_roots_.pop_back();
    } else {
      flush_handed_roots("", {});
    }
  }
  groups_.pop_back();
  now_ = group.outer;
  if (now_->in_type || group.condition) {
    put(")", at);
    return;
  }
  Token place = at;
  place.begin = group.source_begin;
  if (unwrap) {
    code_.truncate(group.code_begin);
    const std::size_t begin = put(operand, place);
    begin_operand(place, total, begin);
    now_->word = word;
    now_->qualified = qualified;
    now_->tracked = tracked;
    now_->receiver = receiver;
    now_->method = method;
  } else {
    put(")", at);
    begin_operand(place, total, group.code_begin);
  }
}

void ViewBuilder::close_call(Group& group, const Token& at) {
  if (now_->open || now_->has_sum || args_.size() > group.args_begin) end_argument();
  const std::span<const Value> args(args_.data() + group.args_begin, args_.size() - group.args_begin);
  // Kept beside the code view, which changes below.
  char buffers[2][kOperandCodeMax];
  const auto keep = [](std::string_view text, char* buffer) {
    const std::size_t size = std::min(text.size(), kOperandCodeMax);
    std::memcpy(buffer, text.data(), size);
    return std::string_view(buffer, size);
  };
  const std::string_view written = keep(
      std::string_view(code_.text()).substr(group.callee_begin, group.code_begin - group.callee_begin), buffers[0]);
  const std::string_view callee = keep(called(group), buffers[1]);
  if (!handed_roots_.empty() && is_parameter_list(group)) {
    while (!handed_roots_.empty() && handed_roots_.back().group >= groups_.size()) handed_roots_.pop_back();
  } else if (!handed_roots_.empty()) {
    flush_handed_roots(written, args.size() > 1 && args[1].is_known_text() ? args[1].text : std::string_view());
  }
  // eval(x) { in a class is a method of that name.
  if (is_root_name(callee) && is_parameter_list(group) && group.callee_begin < code_.size()) {
    const std::string renamed = "_" + code_.text().substr(group.callee_begin);
    replace_code(group.callee_begin, renamed, group.outer->source_begin, at.end);
    groups_.pop_back();
    now_ = group.outer;
    now_->tracked = false;
    now_->operand = Value{};
    now_->operand_begin = code_.size() - renamed.size();
    now_->word = now_->qualified = now_->method = {};
    put(")", at);
    return;
  }
  // Making a function of text: x.constructor("..") without `new`, or with a text.
  if (callee.ends_with(".constructor") && !args.empty() && (!group.outer->made || args[0].is_text()) &&
      !is_parameter_list(group)) {
    add_use("call", ".constructor", args[0].is_text() ? "text" : "value", group.outer->source_begin, at.end);
  }
  if (!args.empty() && args[0].kind == Value::Kind::list && (traits_of(callee) & kRunsCommand) != 0) {
    const std::vector<Value> items = lists_[args[0].list];
    add_command(items, args[0].begin, at.end);
  }
  // A command and its words: spawn("npm", ["install"]), run("npm", "install").
  if (args.size() >= 2 && args[0].is_text()) {
    std::vector<Value> words = {args[0]};
    for (std::size_t i = 1; i < args.size() && i < 16; ++i) {
      if (args[i].kind == Value::Kind::list) {
        const std::vector<Value>& items = lists_[args[i].list];
        words.insert(words.end(), items.begin(), items.end());
        break;
      }
      if (!args[i].is_text()) break;
      words.push_back(args[i]);
    }
    add_command(words, args[0].begin, at.end);
  }
  Value result;
  const Expression& outer = *group.outer;
  if (outer.receiver.kind != Value::Kind::unknown && !outer.method.empty()) {
    result = fold_method(outer.receiver, outer.method, args, lists_, arena_);
  } else if ((traits_of(callee) & kFolds) != 0) {
    result = fold_function(callee, args, lists_, arena_);
  }
  if (result.kind == Value::Kind::list) list_bytes_ += lists_[result.list].size() * sizeof(Value);
  result.lone = false;
  result.begin = outer.receiver.kind != Value::Kind::unknown ? outer.receiver.begin : outer.source_begin;
  result.end = at.end;
  const Value first = args.empty() ? Value{} : args[0];
  const Value second = args.size() < 2 ? Value{} : args[1];
  groups_.pop_back();
  now_ = group.outer;
  now_->method = {};
  now_->receiver = Value{};
  now_->word = {};
  now_->qualified = {};
  now_->operand = result;
  if (load_module(group, callee, first, callee == written, at)) return;
  if (result.kind == Value::Kind::path) {
    put(")", at);
    replace_operand(result, group.callee_begin, at);
    return;
  }
  // x.y, and delete x.y
  const bool gets = callee == "Reflect.get";
  if ((gets || callee == "Reflect.deleteProperty") && second.is_known_text() && is_identifier(second.text) &&
      group.first_arg_end > group.code_begin && group.first_arg_end - group.code_begin <= kOperandCodeMax) {
    const std::string object = code_.text().substr(group.code_begin + 1, group.first_arg_end - group.code_begin - 1);
    const std::string target = object + "." + std::string(second.text);
    replace_code(
        group.callee_begin, gets ? without_global_object(target) : "delete " + target, outer.source_begin, at.end);
    now_->operand_begin = group.callee_begin;
    if (gets) now_->method = second.text;
    return;
  }
  put(")", at);
}

// require("x"), import("x"), createRequire(..)("x"): the name is shown, and the known globals stand for themselves.
bool ViewBuilder::load_module(
    const Group& group, std::string_view callee, const Value& specifier, bool direct, const Token& at) {
  const bool masked = callee == "import" && masked_load_;
  if (callee == "import") masked_load_ = false;
  const bool by_name = callee == "require" || callee == "import" || callee.ends_with(".getBuiltinModule") ||
      callee.ends_with(".require") || callee == "require.resolve" ||
      (callee.ends_with(")") && callee.find("createRequire(") != std::string_view::npos);
  const bool by_result = callee.ends_with(")") && !by_name;
  if (masked || (!by_name && !by_result) || !specifier.is_text() || !is_plain_specifier(specifier.text)) return false;
  const std::string_view root = module_root(specifier.text);
  if (by_result && root.empty()) return false;
  note_module(specifier.text, specifier.begin, specifier.end);
  if (root == "process" || root == "Bun" || root == "console") {
    replace_code(group.callee_begin, root, group.outer->source_begin, at.end);
    now_->operand_begin = code_.size() - root.size();
    now_->word = {};
    return true;
  }
  const std::string shown = "(\"" + std::string(specifier.text) + "\")";
  if (!direct) {
    replace_code(group.callee_begin, std::string(callee) + shown, group.outer->source_begin, at.end);
    now_->operand_begin = group.callee_begin;
    return true;
  }
  code_.truncate(group.code_begin);
  write(code_, shown, specifier.begin, specifier.end);
  return true;
}

void ViewBuilder::close_square(Group& group, const Token& at) {
  if (now_->open || now_->has_sum || args_.size() > group.args_begin) end_argument();
  const std::span<const Value> args(args_.data() + group.args_begin, args_.size() - group.args_begin);
  if (!group.call) {
    Value list;
    if (args.size() <= kListMax) {
      list.kind = Value::Kind::list;
      list.list = static_cast<std::uint32_t>(lists_.size());
      list.begin = group.source_begin;
      list.end = at.end;
      lists_.emplace_back(args.begin(), args.end());
      add_command(args, group.source_begin, at.end);
      // [46, 101, 110, 118]: a text in a coding, as in string_literal().
      const auto is_letter = [](const Value& v) {
        return v.kind == Value::Kind::number && v.number >= ' ' && v.number <= '~';
      };
      if (args.size() >= 4 && std::all_of(args.begin(), args.end(), is_letter)) {
        std::string letters;
        for (const Value& code : args) letters += static_cast<char>(code.number);
        add_entry(callee_here(), letters, group.source_begin, at.end);
      }
    }
    groups_.pop_back();
    now_ = group.outer;
    put("]", at);
    if (!now_->in_type) {
      const std::uint32_t first = now_->pattern_first;
      const std::uint32_t end = now_->pattern_end;
      begin_operand(at, list, group.code_begin);
      now_->pattern_first = first;
      now_->pattern_end = end;
    }
    return;
  }
  const Value index = args.size() == 1 ? args[0] : Value{};
  groups_.pop_back();
  now_ = group.outer;
  if (index.kind == Value::Kind::number && now_->operand.kind == Value::Kind::list && !now_->has_sum) {
    const std::vector<Value>& items = lists_[now_->operand.list];
    Value item = index.number >= 0 && static_cast<std::size_t>(index.number) < items.size()
        ? items[static_cast<std::size_t>(index.number)]
        : Value{};
    put("]", at);
    if (item.kind == Value::Kind::path) {
      replace_operand(item, now_->operand_begin, at);
      return;
    }
    item.lone = false;
    item.begin = now_->operand.begin;
    item.end = at.end;
    now_->operand = item;
    now_->method = {};
    now_->word = {};
    now_->qualified = {};
    return;
  }
  if (index.is_known_text() && is_identifier(index.text)) {
    code_.truncate(group.code_begin);
    write(code_, ".", group.source_begin, group.source_begin + 1);
    Token place = at;
    place.begin = group.source_begin;
    member(index.text, place);
    return;
  }
  if (!index.is_known_text()) note_computed_global(group, index_);
  if (is_symbol_of_global(group)) {
    code_.truncate(group.code_begin);
    write(code_, "[\"\"", group.source_begin, at.begin);
  }
  put("]", at);
  now_->receiver = now_->operand;
  now_->method = index.is_text() ? index.text : std::string_view();
  now_->operand = Value{};
  now_->word = {};
}

}  // namespace guard
