#include "validator/values/constant_folder.h"

#include <gtest/gtest.h>

namespace guard {
namespace {

Value text(std::string_view value) {
  Value v;
  v.kind = Value::Kind::text;
  v.text = value;
  return v;
}

Value number(std::int64_t value) {
  Value v;
  v.kind = Value::Kind::number;
  v.number = value;
  return v;
}

struct Folder {
  Arena arena;
  ValueLists lists;
  std::string function(std::string_view callee, const std::vector<Value>& args) {
    const Value value = fold_function(callee, args, lists, arena);
    return value.is_text() ? std::string(value.text) : "(unknown)";
  }
  std::string method(const Value& receiver, std::string_view name, const std::vector<Value>& args) {
    const Value value = fold_method(receiver, name, args, lists, arena);
    return value.is_text() ? std::string(value.text) : "(unknown)";
  }
};

const std::string kUnknown(1, kWildcard);

TEST(DecodeEscapes, KnowsEveryEscapeOfJavaScript) {
  EXPECT_EQ(decode_escapes(R"(\x2eenv)"), ".env");
  EXPECT_EQ(decode_escapes(R"(p\u0072oc)"), "proc");
  EXPECT_EQ(decode_escapes(R"(\u{70}roc)"), "proc");
  EXPECT_EQ(decode_escapes(R"(\56env)"), ".env");
  EXPECT_EQ(decode_escapes("chi\\\nld"), "child");
  EXPECT_EQ(decode_escapes("chi\\\r\nld"), "child");
  EXPECT_EQ(decode_escapes("chi\\\xe2\x80\xa8ld"), "child");
  EXPECT_EQ(decode_escapes(R"(a\tb\nc\\d\'e\q)"), "a\tb\nc\\d'eq");
  EXPECT_EQ(decode_escapes(R"(\ud83d\ude00)"), "\xf0\x9f\x98\x80");
}

TEST(DecodeEscapes, KeepsWhatIsNoEscape) {
  EXPECT_EQ(decode_escapes(R"(\xZZ)"), "xZZ");
  EXPECT_EQ(decode_escapes(R"(\u{110000000})"), "u{110000000}");
  EXPECT_EQ(decode_escapes("\\"), "\\");
  EXPECT_EQ(decode_escapes(R"(\u12)"), "u12");
}

TEST(DecodeIdentifier, UndoesUnicodeEscapes) {
  EXPECT_EQ(decode_identifier(R"(ev\u0061l)"), "eval");
  EXPECT_EQ(decode_identifier(R"(ev\u{61}l)"), "eval");
}

TEST(ConstantFolder, JoinsTextsAndMarksWhatIsUnknown) {
  Folder f;
  EXPECT_EQ(join_values(text("a"), text("b"), f.arena).text, "ab");
  EXPECT_EQ(join_values(text("/proc/"), Value{}, f.arena).text, "/proc/" + kUnknown);
  EXPECT_EQ(join_values(text("a"), number(7), f.arena).text, "a7");
  EXPECT_FALSE(join_values(Value{}, Value{}, f.arena).is_text());
}

TEST(ConstantFolder, RefusesTextsThatGrowTooLong) {
  Folder f;
  const std::string half(kTextMax / 2 + 1, 'a');
  EXPECT_FALSE(join_values(text(half), text(half), f.arena).is_text());
}

TEST(ConstantFolder, UndoesEverydayCodings) {
  Folder f;
  EXPECT_EQ(f.function("atob", {text("ZW52")}), "env");
  EXPECT_EQ(f.function("String.fromCharCode", {number(101), number(110), number(118)}), "env");
  EXPECT_EQ(f.function("decodeURIComponent", {text("%2e%65nv")}), ".env");
  EXPECT_EQ(f.function("Buffer.from", {text("656e76"), text("hex")}), "env");
  EXPECT_EQ(f.function("Buffer.from", {text("ZW52"), text("base64")}), "env");
  EXPECT_EQ(f.function("URL", {text("../.env"), Value{}}), "../.env");
}

TEST(ConstantFolder, JoinsPathsAndTakesDotSegmentsOut) {
  Folder f;
  EXPECT_EQ(f.function("path.join", {text("/proc"), text("self"), text("environ")}), "/proc/self/environ");
  EXPECT_EQ(f.function("join", {Value{}, text(".."), text(".env")}), ".env");
  EXPECT_EQ(f.function("path.resolve", {Value{}, text("x")}), kUnknown + "/x");
  EXPECT_EQ(normalized_path("/proc/./self//environ"), "/proc/self/environ");
  EXPECT_EQ(normalized_path("/a/../proc/self"), "/proc/self");
  EXPECT_EQ(normalized_path("/proc/self"), "");
}

TEST(ConstantFolder, AppliesMethodsOfStrings) {
  Folder f;
  EXPECT_EQ(f.method(text("e"), "concat", {text("n"), text("v")}), "env");
  EXPECT_EQ(f.method(text("environment"), "slice", {number(0), number(3)}), "env");
  EXPECT_EQ(f.method(text("xenv"), "slice", {number(-3)}), "env");
  EXPECT_EQ(f.method(text("e-n-v"), "replaceAll", {text("-"), text("")}), "env");
  EXPECT_EQ(f.method(text("eXnv"), "replace", {text("X"), text("")}), "env");
  EXPECT_EQ(f.method(text("env"), "noSuchMethod", {}), "(unknown)");
}

TEST(ConstantFolder, SplitsReversesAndJoins) {
  Folder f;
  const Value letters = fold_method(text("vne"), "split", std::vector<Value>{text("")}, f.lists, f.arena);
  const Value reversed = fold_method(letters, "reverse", {}, f.lists, f.arena);
  EXPECT_EQ(f.method(reversed, "join", {text("")}), "env");
}

TEST(ShellReading, UndoesQuotesAndIfs) {
  EXPECT_EQ(shell_reading("npm${IFS}install"), "npm install");
  EXPECT_EQ(shell_reading("npm$IFS$9install"), "npm install");
  EXPECT_EQ(shell_reading("n'p'm in\\stall"), "npm install");
  EXPECT_EQ(shell_reading("npm install"), "");
}

}  // namespace
}  // namespace guard
