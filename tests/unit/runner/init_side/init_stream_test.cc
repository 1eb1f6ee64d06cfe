#include "runner/init_side/init_stream.h"

#include <gtest/gtest.h>

#include "tests/support/runner/sandbox_fixture.h"

namespace guard {
namespace {

using testing::KeepingSink;

std::string frame(char type, std::string_view payload) {
  std::string text(8, '\0');
  text[0] = type;
  for (int i = 0; i < 4; ++i) text[static_cast<std::size_t>(4 + i)] = static_cast<char>(payload.size() >> (24 - 8 * i));
  return text.append(payload);
}

const std::string kHello = frame('H', "protocol=1\nuid=1000\n");

std::string exit_frame(std::string_view kind = "kind=exited\nvalue=3\n",
    std::string_view flags = "term_from_inside=0\nterm_from_outside=0\ntimed_out=0\n") {
  return frame('X', std::string(kind) + std::string(flags) + "leftovers=2\nmax_rss_kb=10\nuser_us=1500\nsys_us=500\n");
}

struct Read {
  KeepingSink out;
  KeepingSink err;
  Result<void> pushed = ok();
  Result<void> finished = ok();
  ExecResult result;
  std::optional<InitExit> exit;
  bool flooded = false;
};

std::unique_ptr<Read> read_whole(std::string_view text, std::size_t cut = 1 << 20,
    ReportChannel report = ReportChannel::on, std::uint64_t flood = 1 << 20) {
  auto read = std::make_unique<Read>();
  InitStream stream(read->out, read->err, flood, report);
  for (std::size_t at = 0; at < text.size() && read->pushed; at += cut) {
    const std::string_view part = text.substr(at, cut);
    read->pushed = stream.push(std::span(part.data(), part.size()));
  }
  read->finished = stream.finish();
  read->exit = stream.exit();
  read->flooded = stream.flooded();
  stream.take_into(read->result);
  return read;
}

TEST(InitStream, ReadsTheSameHoweverTheStreamIsCut) {
  const std::string text = kHello + frame('O', "one") + frame('E', "two") + frame('R', "rep") + frame('O', "") +
      frame('O', " three") + frame('R', "ort") + exit_frame();
  for (std::size_t cut = 1; cut <= text.size(); ++cut) {
    const auto read = read_whole(text, cut);
    ASSERT_TRUE(read->pushed.has_value()) << read->pushed.error().to_string();
    ASSERT_TRUE(read->finished.has_value());
    EXPECT_EQ(read->out.text, "one three");
    EXPECT_EQ(read->err.text, "two");
    EXPECT_EQ(read->result.report, "report");
    EXPECT_EQ(read->result.stdout_bytes, 9u);
    EXPECT_EQ(read->result.stderr_bytes, 3u);
    EXPECT_EQ(read->result.seen_inside.at("uid"), "1000");
    EXPECT_EQ(read->result.cpu, milliseconds(2));
    EXPECT_EQ(read->result.memory_peak_bytes, 10u * 1024);
    ASSERT_TRUE(read->exit.has_value());
    EXPECT_EQ(read->exit->value, 3);
    EXPECT_EQ(read->exit->leftovers, 2u);
  }
}

std::string more_frame() { return exit_frame("kind=exited\nvalue=0\nmore=1\nattestation_forged=1\n"); }

TEST(InitStream, KeepsWhatEachOfSeveralProgramsSaid) {
  const std::string text = kHello + frame('E', "one") + frame('R', "r1") + frame('A', "passed=2\nunasserted.1=adds\n") +
      more_frame() + frame('E', "two") + frame('R', "r2") + exit_frame();
  for (std::size_t cut = 1; cut <= text.size(); ++cut) {
    KeepingSink out;
    KeepingSink err;
    std::vector<std::string> seen;
    InitStream stream(out, err, 1 << 20, ReportChannel::on);
    stream.expect_programs(2, [&] { seen.push_back(err.text); });
    for (std::size_t at = 0; at < text.size(); at += cut) {
      const std::string_view part = std::string_view(text).substr(at, cut);
      ASSERT_TRUE(stream.push(std::span(part.data(), part.size())));
    }
    ASSERT_TRUE(stream.finish());
    EXPECT_EQ(seen, std::vector<std::string>{"one"});
    ExecResult result;
    stream.take_into(result);
    ASSERT_EQ(result.earlier.size(), 1u);
    const ExecResult& first = result.earlier.front();
    EXPECT_EQ(first.report, "r1");
    EXPECT_EQ(first.outcome.value, 0);
    EXPECT_TRUE(first.attestation_forged);
    ASSERT_TRUE(first.attested);
    EXPECT_EQ(first.attested->count("passed"), 2u);
    EXPECT_EQ(first.attested->titles.front().second, "adds");
    EXPECT_EQ(result.report, "r2");
    EXPECT_FALSE(result.attested);
    EXPECT_FALSE(result.attestation_forged);
    EXPECT_EQ(stream.exit()->value, 3);
  }
}

TEST(InitStream, RefusesMoreProgramsThanWereAskedFor) {
  EXPECT_FALSE(read_whole(kHello + more_frame() + exit_frame())->pushed);
}

TEST(InitStream, AProgramThatIsMissingLeavesNoEnd) {
  EXPECT_FALSE(read_whole(kHello + more_frame())->finished);
  KeepingSink out;
  InitStream stream(out, out, 1 << 20, ReportChannel::on);
  stream.expect_programs(2, nullptr);
  const std::string text = kHello + more_frame();
  ASSERT_TRUE(stream.push(std::span(text.data(), text.size())));
  EXPECT_FALSE(stream.finish());
}

constexpr InitStream::TagKey kKey = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};

std::string tagged(const std::string& frame, std::uint64_t number, const InitStream::TagKey& key = kKey) {
  unsigned char bytes[init_protocol::kTagKeyBytes];
  std::copy(key.begin(), key.end(), bytes);
  init_protocol::SipHash hash(bytes);
  init_protocol::begin_tag(hash, number);
  hash.update(frame.data(), frame.size());
  unsigned char tag[init_protocol::kTagBytes];
  init_protocol::write_tag(hash.finish(), tag);
  return frame + std::string(reinterpret_cast<const char*>(tag), sizeof tag);
}

bool reads_with_tags(const std::string& text, std::size_t cut = 1 << 20) {
  KeepingSink out;
  KeepingSink err;
  InitStream stream(out, err, 1 << 20, ReportChannel::on);
  stream.expect_tags(kKey);
  for (std::size_t at = 0; at < text.size(); at += cut) {
    const std::string_view part = std::string_view(text).substr(at, cut);
    if (!stream.push(std::span(part.data(), part.size()))) return false;
  }
  return stream.finish().has_value();
}

// A program that can write into init's stream, and does not know the key.
TEST(InitStream, BelievesNoFrameThatInitDidNotWrite) {
  const std::string hello = tagged(kHello, 0);
  const std::string out = tagged(frame('O', "one"), 1);
  const std::string end = tagged(exit_frame(), 2);
  const std::string whole = hello + out + end;
  for (std::size_t cut = 1; cut <= whole.size(); ++cut) EXPECT_TRUE(reads_with_tags(whole, cut)) << cut;
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    EXPECT_FALSE(reads_with_tags(changed)) << at;
  }
  InitStream::TagKey other = kKey;
  other[15] = 0;
  const std::pair<const char*, std::string> forgeries[] = {
      {"an end of its own, without a tag", hello + exit_frame()},
      {"with another key", hello + tagged(exit_frame(), 1, other)},
      {"a frame left out", hello + end},
      {"a frame twice", hello + out + out + end},
      {"one before the hello", tagged(frame('O', ""), 0, other) + hello},
      {"in the middle of a frame", hello + out.substr(0, 9) + frame('O', "x") + out.substr(9) + end},
      {"cut in its last tag", whole.substr(0, whole.size() - 1)},
  };
  for (const auto& [name, text] : forgeries) EXPECT_FALSE(reads_with_tags(text)) << name;
  // Behind the hello it can only have been the program.
  for (const std::string& text :
      {hello + tagged(exit_frame(), 1, other), hello + frame('?', ""), kHello + exit_frame()}) {
    KeepingSink sink;
    InitStream stream(sink, sink, 1 << 20, ReportChannel::on);
    stream.expect_tags(kKey);
    EXPECT_FALSE(stream.push(std::span(text.data(), text.size())));
    EXPECT_EQ(stream.forged(), text.starts_with(hello));
  }
  EXPECT_FALSE(reads_with_tags(kHello + exit_frame())) << "no tags at all";
}

TEST(InitStream, RefusesWhatIsOutOfOrder) {
  std::string reserved = kHello;
  reserved[2] = 1;
  std::string too_long = kHello + frame('O', "");
  too_long[kHello.size() + 5] = 2;  // 128 KiB
  const std::pair<const char*, std::string> cases[] = {
      {"output before the hello", frame('O', "x") + kHello + exit_frame()},
      {"an exit before the hello", exit_frame()},
      {"a second hello", kHello + kHello + exit_frame()},
      {"a second exit", kHello + exit_frame() + exit_frame()},
      {"output behind the exit", kHello + exit_frame() + frame('O', "x")},
      {"an unknown type", kHello + frame('Z', "x") + exit_frame()},
      {"reserved bytes", reserved + exit_frame()},
      {"a frame that is too long", too_long},
      {"another protocol", frame('H', "protocol=2\n") + exit_frame()},
      {"no protocol", frame('H', "uid=1\n") + exit_frame()},
      {"a line without an end", frame('H', "protocol=1\nuid=1") + exit_frame()},
      {"a key given twice", frame('H', "protocol=1\nprotocol=1\n") + exit_frame()},
      {"an exit of unknown kind", kHello + exit_frame("kind=fine\nvalue=0\n")},
      {"an exit without a value", kHello + exit_frame("kind=exited\n")},
      {"an exit value that is no number", kHello + exit_frame("kind=exited\nvalue=0x0\n")},
      {"an exit value out of range", kHello + exit_frame("kind=exited\nvalue=70000\n")},
      {"a flag that is none",
          kHello + exit_frame("kind=exited\nvalue=0\n", "term_from_inside=2\nterm_from_outside=0\ntimed_out=0\n")},
  };
  for (const auto& [what, text] : cases) {
    for (const std::size_t cut : {std::size_t{1}, std::size_t{1} << 20}) {
      const auto read = read_whole(text, cut);
      ASSERT_FALSE(read->pushed.has_value()) << what;
      EXPECT_EQ(read->pushed.error().code(), ErrorCode::protocol_error) << what;
    }
  }
  EXPECT_FALSE(read_whole(kHello + frame('R', "x") + exit_frame(), 1 << 20, ReportChannel::off)->pushed.has_value());
}

// A stream that just stops proves nothing, wherever it does.
TEST(InitStream, RefusesEveryProperPrefix) {
  const std::string text = kHello + frame('O', "one") + exit_frame();
  for (std::size_t size = 0; size < text.size(); ++size) {
    const auto read = read_whole(text.substr(0, size));
    ASSERT_FALSE(read->finished.has_value()) << size;
    EXPECT_EQ(read->finished.error().code(), ErrorCode::protocol_error);
  }
}

TEST(InitStream, CountsAFloodButPassesNothingOn) {
  const auto read =
      read_whole(kHello + frame('O', std::string(60, 'x')) + frame('E', std::string(60, 'y')) + exit_frame(), 1 << 20,
          ReportChannel::off, 100);
  EXPECT_TRUE(read->flooded);
  EXPECT_EQ(read->out.seen, 60u);
  EXPECT_EQ(read->err.seen, 0u);
  EXPECT_EQ(read->result.stderr_bytes, 60u);
  EXPECT_FALSE(
      read_whole(kHello + frame('O', std::string(100, 'x')) + exit_frame(), 1 << 20, ReportChannel::off, 100)->flooded);
}

TEST(InitStream, MarksAReportThatIsTooLarge) {
  std::string text = kHello;
  for (std::uint64_t size = 0; size <= ExecResult::kReportBytesMax; size += 64 * 1024)
    text += frame('R', std::string(64 * 1024, 'r'));
  const auto read = read_whole(text + exit_frame());
  EXPECT_TRUE(read->result.report_truncated);
  EXPECT_EQ(read->result.report->size(), ExecResult::kReportBytesMax);
  EXPECT_FALSE(read_whole(kHello + exit_frame())->result.report.has_value());
}

TEST(InitStream, HandsOnTheErrorOfASink) {
  KeepingSink out;
  KeepingSink err;
  out.fail_after = 1;
  InitStream stream(out, err, 1 << 20, ReportChannel::off);
  const std::string text = kHello + frame('O', "x");
  const auto pushed = stream.push(std::span(text.data(), text.size()));
  ASSERT_FALSE(pushed.has_value());
  EXPECT_EQ(pushed.error().code(), ErrorCode::withheld);
}

TEST(InitStream, TellsOutcomesFromTheExit) {
  const milliseconds limit(500);
  InitExit exit;
  exit.value = 9;
  EXPECT_EQ(outcome_of(exit, TermSent::no, limit)->kind, OutcomeKind::exited);
  exit.kind = InitExit::Kind::signaled;
  EXPECT_EQ(outcome_of(exit, TermSent::no, limit)->kind, OutcomeKind::signaled);
  exit.timed_out = true;
  EXPECT_EQ(outcome_of(exit, TermSent::no, limit)->value, 500);
  exit.term_from_outside = true;
  EXPECT_EQ(outcome_of(exit, TermSent::yes, limit)->kind, OutcomeKind::timed_out);
  EXPECT_EQ(outcome_of(exit, TermSent::no, limit)->kind, OutcomeKind::violation);
  exit.term_from_inside = true;
  EXPECT_EQ(outcome_of(exit, TermSent::yes, limit)->kind, OutcomeKind::violation);
  exit = {};
  exit.kind = InitExit::Kind::exec_failed;
  exit.value = EACCES;
  EXPECT_EQ(outcome_of(exit, TermSent::no, limit).error().code(), ErrorCode::execution_failed);
  EXPECT_EQ(outcome_of(exit, TermSent::no, limit).error().sys_errno(), EACCES);
  exit.kind = InitExit::Kind::init_failed;
  EXPECT_EQ(outcome_of(exit, TermSent::no, limit).error().code(), ErrorCode::environment_creation_failed);
}

// One thing missing at a time.
TEST(InitStream, BelievesInNoSandboxThatDoesNotShowEverything) {
  const std::map<std::string, std::string> good = {{"uid", "1000"}, {"gid", "1000"}, {"cap_inh", "0000000000000000"},
      {"cap_prm", "0000000000000000"}, {"cap_eff", "0000000000000000"}, {"cap_bnd", "0000000000000000"},
      {"cap_amb", "0000000000000000"}, {"no_new_privs", "1"}, {"seccomp", "2"}, {"rlimit_core", "0"}};
  EXPECT_TRUE(check_confinement(good).has_value());
  for (const auto& [key, value] : good) {
    auto missing = good;
    missing.erase(key);
    EXPECT_FALSE(check_confinement(missing).has_value()) << key;
    auto other = good;
    other[key] = key == "uid" || key == "gid" || key == "no_new_privs" ? "0" : "1";
    EXPECT_FALSE(check_confinement(other).has_value()) << key;
  }
}

}  // namespace
}  // namespace guard
