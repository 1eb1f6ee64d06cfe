#include "cli/head_and_tail.h"

#include <gtest/gtest.h>

#include "common/byte_sink.h"
#include "redact/redactor.h"
#include "rules/rule_set.h"

namespace guard {
namespace {

const SecretSource& secrets() {
  static const SecretSource source = [] {
    auto created = SecretSource::shipped();
    EXPECT_TRUE(created.has_value());
    return std::move(*created);
  }();
  return source;
}

// Whatever the cap and the chunks: each end is what stands at that end of the whole output, with no marker cut, and
// what was left out is counted.
TEST(HeadAndTail, KeepsNoHalfMarkerAtAnyCap) {
  const std::string key = std::string("sk") + "-ant-" + "api03-" + "Kq7xW2mZ9pLr4TbNKq7xW2mZ9pLr4TbN";
  std::string text;
  std::string whole;
  for (int i = 0; i < 6; ++i) {
    text += "line " + std::to_string(i) + " " + key + " and " + key + "\n";
    whole += "line " + std::to_string(i) + " [REDACTED:anthropic] and [REDACTED:anthropic]\n";
  }
  for (std::size_t cap = 1; cap <= whole.size() + 1; ++cap) {
    for (const std::size_t chunk : {std::size_t{1}, std::size_t{23}, text.size()}) {
      SCOPED_TRACE("cap " + std::to_string(cap) + ", chunks of " + std::to_string(chunk));
      StringSink kept;
      HeadAndTail both(cap, kept);
      auto redactor = Redactor::create(secrets(), both);
      ASSERT_TRUE(redactor.has_value());
      for (std::size_t at = 0; at < text.size(); at += chunk) {
        ASSERT_TRUE(redactor->push(std::string_view(text).substr(at, chunk)).has_value());
      }
      ASSERT_TRUE(redactor->finish().has_value());
      ASSERT_TRUE(both.close().has_value());
      ASSERT_EQ(both.kept_bytes() + both.dropped_bytes(), whole.size());
      if (both.dropped_bytes() == 0 && kept.text == whole) continue;

      const std::string note = "\n[guard: " + std::to_string(both.dropped_bytes()) + " bytes left out]\n";
      const std::size_t at = kept.text.find(note);
      ASSERT_NE(at, std::string::npos) << kept.text;
      const std::string head = kept.text.substr(0, at);
      const std::string tail = kept.text.substr(at + note.size());
      ASSERT_LE(head.size() + tail.size(), std::max<std::size_t>(cap, 1));
      ASSERT_TRUE(whole.starts_with(head)) << head;
      ASSERT_TRUE(whole.ends_with(tail)) << tail;
      ASSERT_TRUE(tail.empty() || whole[whole.size() - tail.size() - 1] == '\n') << "begins inside of a line: " << tail;
      const std::size_t open = head.rfind('[');
      ASSERT_TRUE(open == std::string::npos || head.find(']', open) != std::string::npos) << "half a marker: " << head;
    }
  }
}

}  // namespace
}  // namespace guard
