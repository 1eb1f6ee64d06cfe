// The part of the token reader that reads brackets: calls, lists, objects, templates, parentheses.
#include <algorithm>
#include <array>

#include "validator/values/known_names.h"
#include "validator/views/token_reader.h"

namespace guard {
namespace {

// What stands in parentheses behind these is no list of parameters.
bool is_condition_word(std::string_view text) noexcept {
  return text == "if" || text == "while" || text == "for" || text == "switch" || text == "with" || text == "catch";
}

Token place_of(std::uint32_t begin, std::uint32_t end) noexcept {
  Token place;
  place.begin = begin;
  place.end = end;
  return place;
}

// Is it a function of the file system, or a bare name, that ends at the end of `ahead`: fs.readFileSync, Bun.file?
bool is_of_file_system(std::string_view ahead) noexcept {
  if (ahead.empty() || !(is_word_byte(ahead.back()) || ahead.back() == '.')) return true;
  return ahead.ends_with("fs.") || ahead.ends_with("promises.") || ahead.ends_with("Bun.");
}

// What reads each file of a list, by the code of what the list is gone through with: f=>fs.readFileSync(f,""). Empty if
// nothing does.
std::string_view reader_of_each(std::string_view code) {
  static constexpr std::array<std::string_view, 5> kReaders = {
      "readFileSync", "readFile", "createReadStream", "openSync", "file"};
  const std::size_t arrow = code.find("=>");
  std::string_view name = code.substr(0, arrow);
  if (name.starts_with('(')) name.remove_prefix(1);
  name = name.substr(0, name.find_first_of("),:"));
  for (const std::string_view reader : kReaders) {
    const std::size_t at = code.find(reader);
    if (at == std::string_view::npos || !is_of_file_system(code.substr(0, at))) continue;
    const std::string_view rest = code.substr(at + reader.size());
    const bool handed = arrow == std::string_view::npos && (rest.empty() || rest[0] == ',' || rest[0] == ' ');
    const bool called = arrow < at && rest.starts_with('(') && rest.substr(1).starts_with(name) &&
        rest.size() > name.size() + 1 && !is_word_byte(rest[name.size() + 1]) && rest[name.size() + 1] != '.';
    if (handed || called) return reader == "file" ? kTextCallee : reader;
  }
  return {};
}

std::vector<Value> values_of(std::span<const Argument> args) {
  std::vector<Value> values;
  values.reserve(args.size());
  for (const Argument& argument : args) values.push_back(argument.value);
  return values;
}

}  // namespace

bool TokenReader::is_open(char open) const noexcept {
  constexpr std::size_t kSearchMax = 64;
  std::size_t looked_at = 0;
  for (const Frame* frame = frame_; frame->outer != nullptr && looked_at < kSearchMax; frame = frame->outer) {
    if (frame->open == open) return true;
    ++looked_at;
  }
  return false;
}

// The function that a value in the innermost open call is handed to; brackets and braces are looked through.
std::string_view TokenReader::callee_here() const noexcept {
  std::size_t looked_at = 0;
  for (const Frame* frame = frame_; frame->outer != nullptr && looked_at < 16; frame = frame->outer, ++looked_at) {
    if ((frame->open == '(' && frame->call) || frame->tagged) return frame->called;
  }
  return {};
}

// `in_type`: it is part of a type, and gives no operand. `pattern`: of names that are declared. What stands before the
// closing bracket ends in sight of it, and then each close..() steps over it.
void TokenReader::group(char open, bool in_type, bool pattern) {
  const Expression& e = now();
  if (depth_ == kDepthMax) {
    over_budget_ = true;
    return;
  }
  if (open == '{' && at_ == closed_end_ && closed_end_ != 0) {
    shadow_parameters(at_);
    name_function();
  }
  if (frames_.size() <= depth_ + 1) frames_.emplace_back();
  Frame& frame = frames_[depth_ + 1];
  frame.restart(open, frame_);
  frame.call = e.open && !in_type && !pattern && (open == '(' || open == '[');
  frame.tagged = open == '`' && e.open && !in_type;
  frame.raw = frame.tagged && e.operand.name == "String.raw";
  frame.condition = open == '(' && !e.open && at_ > 0 && is_word(at_ - 1) && is_condition_word(text_before());
  if ((frame.call && open == '(') || frame.tagged) frame.called = called_name(e.operand.name);
  frame.pattern = pattern;
  frame.token = at_;
  frame.code_begin = writer_.code_size();
  frame.args_begin = args_.size();
  if (open == '{') frame.scope = scope_of_object();
  if (open == '`') {
    frame.now.sum = unknown_at(tokens_[at_].begin, tokens_[at_].end);
    frame.now.sum.kind = Value::Kind::text;
    frame.now.has_sum = true;
  }
  const std::size_t shadows = shadows_.size();
  put(tokens_[at_++]);
  frame_ = &frame;
  ++depth_;
  level();
  shadows_.resize(std::min(shadows_.size(), shadows));
  // Another bracket may have closed one around it: then it is ignored.
  const bool closed = !over_budget_ && at_ < tokens_.size() && closes(tokens_[at_]) == open;
  if (closed) {
    if (open == '(') {
      closed_first_ = frame.token;
      closed_end_ = at_ + 1;
      closed_condition_ = frame.condition;
    }
    close(frame, tokens_[at_], in_type);
  } else if (open != '`') {
    finish(true);
  }
  frame_ = frame.outer;
  --depth_;
  args_.resize(frame.args_begin);
}

void TokenReader::close(Frame& frame, const Token& at, bool in_type) {
  switch (frame.open) {
    case '(':
      if (frame.call) {
        close_call(frame, at);
      } else {
        close_plain(frame, at, in_type);
      }
      break;
    case '[': close_square(frame, at, in_type); break;
    case '`': close_template(frame, at, in_type); break;
    case '$': {
      Value part = finish(true);
      ++at_;
      if (!part.is_text() && part.kind != Value::Kind::number) part = Value{};
      part.end = at.end;
      Value& sum = frame.outer->now.sum;
      if (frame.outer->open == '`' && sum.is_text()) {
        const Value longer = join_values(sum, part, arena_);
        sum = longer.is_text() ? longer : Value{};
      }
      writer_.put("}", at);
      break;
    }
    default:
      end_property();
      ++at_;
      frame_ = frame.outer;
      writer_.put("}", at);
      if (!in_type) begin_operand(unknown_at(tokens_[frame.token].begin, at.end), "{}", frame.code_begin);
      break;
  }
}

void TokenReader::close_template(Frame& frame, const Token& at, bool in_type) {
  ++at_;
  Value total = frame.now.sum;
  total.begin = tokens_[frame.token].begin;
  total.end = at.end;
  if (total.is_text()) writer_.add_string(callee_here(), total.text, total.begin, total.end);
  frame_ = frame.outer;
  writer_.put("`", at);
  if (in_type) return;
  total.lone = !frame.tagged;
  if (!frame.tagged) {
    begin_operand(total, "``", frame.code_begin);
    return;
  }
  const Operand tag = now().operand;
  begin_operand(frame.raw ? total : unknown_at(tag.begin, at.end), longer(tag.name, "``"), tag.code_begin);
  now().operand.begin = tag.begin;
}

// (x), (x as T), (0, x): one operand needs no parentheses.
void TokenReader::close_plain(Frame& frame, const Token& at, bool in_type) {
  constexpr std::size_t kOperandCodeMax = 256;  // longer operands keep their parentheses
  const Expression inner = frame.now;
  const Operand& o = inner.operand;
  const std::size_t earlier = args_.size() - frame.args_begin;
  const bool first = earlier == 0 && o.code_begin == frame.code_begin + 1;
  const bool behind_constant =
      earlier == 1 && (args_.back().value.kind == Value::Kind::text || args_.back().value.kind == Value::Kind::number);
  const bool unwrap =
      inner.alone() && (first || behind_constant) && o.code_end - o.code_begin <= kOperandCodeMax && !frame.condition;
  Value total = finish(true);
  ++at_;
  // The names of parameters, or what goes on behind the parenthesis, were not handed to anybody.
  if (!frame.condition && !unwrap && text_at(at_) != "=>") note_handed(frame, {}, {});
  frame_ = frame.outer;
  if (in_type || frame.condition) {
    writer_.put(")", at);
    return;
  }
  const std::uint32_t begin = tokens_[frame.token].begin;
  if (total.kind == Value::Kind::path) total = unknown_at(total.begin, total.end);
  if (total.end == 0) total = unknown_at(begin, at.end);
  if (!unwrap) {
    writer_.put(")", at);
    begin_operand(total, "()", frame.code_begin);
    now().operand.begin = begin;
    return;
  }
  const std::size_t code_begin = writer_.move_code(frame.code_begin, o.code_begin, o.code_end, place_of(begin, at.end));
  begin_operand(total, o.name, code_begin);
  Operand& outer = now().operand;
  outer.begin = begin;
  outer.path = o.path;
  outer.own = first ? o.own : std::string_view();
  outer.word = first ? o.word : std::string_view();
  outer.receiver = o.receiver;
  outer.method = o.method;
  outer.tracked = o.tracked;
  outer.called = o.called;
}

void TokenReader::close_call(Frame& frame, const Token& at) {
  if (frame.now.open || frame.now.has_sum || args_.size() > frame.args_begin) end_argument();
  ++at_;
  const std::span<const Argument> args(args_.data() + frame.args_begin, args_.size() - frame.args_begin);
  Expression& outer = frame.outer->now;
  Operand& o = outer.operand;
  const std::string_view called = frame.called;
  const Value first = args.empty() ? Value{} : args[0].value;
  const Value second = args.size() < 2 ? Value{} : args[1].value;
  const bool declares = is_parameter_list(frame);
  if (!declares) note_handed(frame, o.name, second.is_known_text() ? second.text : std::string_view());
  // eval(x) { in a class is a method of that name.
  if (is_root_name(called) && declares && called == o.name) {
    writer_.move_code(o.code_begin, o.code_begin, writer_.code_size(), place_of(o.begin, at.end), "_");
    frame_ = frame.outer;
    writer_.put(")", at);
    begin_operand(unknown_at(o.begin, at.end), "_", o.code_begin);
    return;
  }
  // Making a function of text: x.constructor("..") without `new`, or with a text.
  if (called.ends_with(".constructor") && !args.empty() && (!outer.made || first.is_text()) && !declares)
    writer_.add_use("call", ".constructor", first.is_text() ? "text" : "value", o.begin, at.end);
  add_words_of(args, at.end);
  note_files(frame, called, args);
  Value result;
  const bool of_value = !o.method.empty() && o.receiver.kind != Value::Kind::unknown;
  if (of_value) {
    result = fold_method(o.receiver, o.method, values_of(args), lists_, arena_);
  } else if ((traits_of(called) & kFolds) != 0) {
    result = fold_function(called, values_of(args), lists_, arena_);
  }
  if (result.kind == Value::Kind::list) list_bytes_ += lists_[result.list].size() * sizeof(Value);
  result.lone = false;
  result.begin = of_value ? o.receiver.begin : o.begin;
  result.end = at.end;
  const std::string_view path = call_path(called, args);
  // Only what goes on is asked for its name.
  const std::string_view next = text_at(at_);
  std::string_view name;
  if (!next.empty() && std::string_view(".?([`").find(next[0]) != std::string_view::npos) {
    name = longer(o.name, "(");
    if (args.size() == 1 && args[0].name.size() <= 32) name = longer(name, args[0].name);
    name = longer(name, ")");
  }
  frame_ = frame.outer;
  if (load_module(frame, called, first, at) || reflect(called, args, at)) return;
  writer_.put(")", at);
  if (result.kind == Value::Kind::path) {
    replace_operand(result.text, at.end);
    return;
  }
  const bool tracked = o.tracked;
  const std::uint32_t begin = o.begin;
  begin_operand(result, name, o.code_begin);
  o.begin = begin;
  o.path = path;
  o.tracked = tracked;
  o.called = true;
}

// Which files a call writes, and which it reads by another way than as an argument of what reads.
void TokenReader::note_files(const Frame& frame, std::string_view called, std::span<const Argument> args) {
  if (args.empty()) return;
  const auto text_of_argument = [&](std::size_t i) { return i < args.size() ? args[i].value : Value{}; };
  const Value& first = args[0].value;
  const Value second = text_of_argument(1);
  const CalleeTraits traits = traits_of(called);
  const bool direct = called == frame.outer->now.operand.name;  // and no f.call(x, ..)
  const bool opens = last_name(called) == "openSync" || last_name(called) == "open";
  const bool opens_to_write = opens && second.is_text() && (second.text.starts_with('w') || second.text == "a");
  if (direct && first.is_text() && ((traits & kWritesFirst) != 0 || called == "Bun.write" || opens_to_write))
    writer_.add_path(kWritesCallee, first);
  if (direct && second.is_text() && (traits & kWritesSecond) != 0) writer_.add_path(kWritesCallee, second);
  if (called == "import" && first.is_text() && loads_as_text(frame.token, at_)) writer_.add_path(kTextCallee, first);
  // [".."].map((f) => fs.readFileSync(f)), [".."].map(fs.readFileSync)
  const Value& list = frame.outer->now.operand.receiver;
  if (frame.outer->now.operand.method.empty() || list.kind != Value::Kind::list) return;
  const std::string_view reader =
      reader_of_each(std::string_view(out_.code.text()).substr(frame.code_begin + 1, kNameMax));
  for (const Value& item : lists_[list.list]) {
    if (!reader.empty() && item.is_text()) writer_.add_path(reader, item);
  }
}

// require("x"), import("x"), createRequire(..)("x"): the name is shown, and the known globals stand for themselves.
bool TokenReader::load_module(const Frame& frame, std::string_view called, const Value& specifier, const Token& at) {
  const bool masked = called == "import" && masked_load_;
  if (called == "import") masked_load_ = false;
  if (masked || !specifier.is_text()) return false;
  const Loader loader = loader_of(called);
  if (loader == Loader::none || !is_plain_specifier(specifier.text)) return false;
  const std::string_view root = module_root(specifier.text);
  if (loader == Loader::by_result && root.empty()) return false;
  note_module(specifier.text, specifier.begin, specifier.end);
  const Operand old = now().operand;
  if (root == "process" || root == "Bun" || root == "console") {
    replace_operand(root, at.end);
    return true;
  }
  const std::string_view shown = arena_.concat(arena_.concat(arena_.copy("(\""), specifier.text), "\")");
  std::size_t code_begin = old.code_begin;
  if (called == old.name) {
    writer_.cut_code(frame.code_begin);
    writer_.put(shown, place_of(specifier.begin, specifier.end));
  } else {
    writer_.cut_code(old.code_begin);
    const Token place = place_of(old.begin, at.end);
    code_begin = writer_.put(called, place);
    writer_.put(shown, place);
  }
  begin_operand(unknown_at(old.begin, at.end), longer(called, shown), code_begin);
  Operand& o = now().operand;
  o.tracked = old.tracked;
  if (loads_module_itself(called)) o.path = root;
  return true;
}

// Reflect.get(x, "y") is x.y, Reflect.deleteProperty(x, "y") is delete x.y.
bool TokenReader::reflect(std::string_view callee, std::span<const Argument> args, const Token& at) {
  if (!callee.starts_with("Reflect.")) return false;
  const bool deletes = callee == "Reflect.deleteProperty";
  if ((callee != "Reflect.get" && !deletes) || args.size() < 2 || args[0].name.empty()) return false;
  const Value& key = args[1].value;
  if (!key.is_known_text() || !is_identifier(key.text)) return false;
  const std::uint32_t begin = now().operand.begin;
  const Token place = place_of(begin, at.end);
  const std::size_t code_begin = now().operand.code_begin;
  writer_.cut_code(code_begin);
  if (deletes) writer_.put("delete", place);
  begin_operand(unknown_at(begin, at.end), args[0].name, writer_.put(args[0].name, place));
  now().operand.path = args[0].path;
  now().operand.tracked = !args[0].path.empty();
  member(key.text, place, place);
  now().operand.code_begin = code_begin;
  return true;
}

// globalThis[Symbol.for("x")]: what has a symbol for a name is no ability.
bool TokenReader::is_symbol_of_global(const Frame& frame) const noexcept {
  const std::uint32_t open = frame.token;
  return at_ == open + 8 && text_at(open + 1) == "Symbol" && text_at(open + 3) == "for" && text_at(open + 4) == "(" &&
      is_global_object(frame.outer->now.operand.path);
}

Value TokenReader::list_value(std::span<const Argument> args, std::uint32_t begin, std::uint32_t end) {
  Value list = args.size() > kListMax ? Value{} : make_list(values_of(args), lists_);
  list.begin = begin;
  list.end = end;
  return list;
}

// A command and its words: spawn("npm", ["install"]), run("npm", "install").
void TokenReader::add_words_of(std::span<const Argument> args, std::uint32_t end) {
  constexpr std::size_t kWordsMax = 16;
  if (args.empty()) return;
  const Value& first = args[0].value;
  // Bun.spawn(words): a list that was built elsewhere. A literal has told of itself.
  if (first.kind == Value::Kind::list && (traits_of(callee_here()) & kRunsCommand) != 0)
    writer_.add_words(callee_here(), lists_[first.list], false, first.begin, end);
  if (args.size() < 2 || !first.is_text()) return;
  std::vector<Value> words = {first};
  for (std::size_t i = 1; i < args.size() && i < kWordsMax; ++i) {
    const Value& value = args[i].value;
    if (value.kind == Value::Kind::list)
      words.insert(words.end(), lists_[value.list].begin(), lists_[value.list].end());
    if (!value.is_text()) break;
    words.push_back(value);
  }
  writer_.add_words(callee_here(), words, false, first.begin, end);
}

void TokenReader::close_square(Frame& frame, const Token& at, bool in_type) {
  if (frame.now.open || frame.now.has_sum || args_.size() > frame.args_begin) end_argument();
  ++at_;
  const std::span<const Argument> args(args_.data() + frame.args_begin, args_.size() - frame.args_begin);
  if (frame.call) {
    close_index(frame, args.size() == 1 ? args[0].value : Value{}, at);
    return;
  }
  const std::uint32_t begin = tokens_[frame.token].begin;
  const std::vector<Value> items = values_of(args);
  // { cmd: ["npm", "ci"] } is for Bun.spawn.
  const bool in_options = frame.outer->open == '{' && frame.outer->key == "cmd";
  writer_.add_words(callee_here(), items, in_options, begin, at.end);
  // [46, 101, 110, 118]: a text in a coding, as in string_literal().
  const auto is_letter = [](const Value& v) {
    return v.kind == Value::Kind::number && v.number >= ' ' && v.number <= '~';
  };
  if (items.size() >= 4 && std::all_of(items.begin(), items.end(), is_letter)) {
    std::string letters;
    for (const Value& code : items) letters += static_cast<char>(code.number);
    writer_.add_string(callee_here(), letters, begin, at.end);
  }
  frame_ = frame.outer;
  writer_.put("]", at);
  if (!in_type) begin_operand(list_value(args, begin, at.end), "[]", frame.code_begin);
}

// x["y"] is x.y.
void TokenReader::close_index(Frame& frame, Value index, const Token& at) {
  frame_ = frame.outer;
  Operand& o = now().operand;
  const std::uint32_t begin = tokens_[frame.token].begin;
  if (index.is_known_text() && is_identifier(index.text)) {
    writer_.cut_code(frame.code_begin);
    member(index.text, place_of(begin, begin + 1), place_of(begin, at.end));
    return;
  }
  if (!index.is_known_text()) note_computed_global(frame, at_ - 1);
  if (is_symbol_of_global(frame)) {
    writer_.cut_code(frame.code_begin);
    writer_.put("[\"\"", place_of(begin, at.begin));
  }
  writer_.put("]", at);
  const Value list = o.value;
  const Value receiver = o.value;
  const std::string_view name = longer(o.name, "[]");
  const bool tracked = o.tracked;
  begin_operand(unknown_at(o.begin, at.end), name, o.code_begin);
  o.tracked = tracked;
  if (index.kind == Value::Kind::number && list.kind == Value::Kind::list && !now().has_sum) {
    const std::vector<Value>& items = lists_[list.list];
    if (index.number >= 0 && static_cast<std::size_t>(index.number) < items.size())
      o.value = items[static_cast<std::size_t>(index.number)];
    o.value.lone = false;
    o.value.begin = list.begin;
    o.value.end = at.end;
    if (o.value.kind == Value::Kind::path) replace_operand(o.value.text, at.end);
    return;
  }
  o.receiver = receiver;
  o.method = index.is_text() ? index.text : std::string_view();
}

}  // namespace guard
