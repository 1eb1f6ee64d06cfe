// What guard and `guard serve` say to each other of tasks, without a sandbox.
#include "runner/tasks/task_table.h"

#include <gtest/gtest.h>
#include <signal.h>

#include "runner/tasks/watch_events.h"

namespace guard {
namespace {

using task_protocol::FrameType;

TaskSpec full_spec() {
  TaskSpec spec;
  spec.argv = {"program", "", "two words"};
  spec.env = {{"A", "1"}, {"B", "x=y"}};
  spec.working_dir = "/workspace/a";
  spec.terminal = TerminalSize{50, 132};
  spec.timeout = milliseconds(1500);
  spec.grace = milliseconds(20);
  spec.title = "title";
  return spec;
}

TEST(TaskStart, ComesBackAsItWas) {
  const TaskSpec spec = full_spec();
  const auto payload = encode_start(spec);
  ASSERT_TRUE(payload);
  const auto read = decode_start(*payload);
  ASSERT_TRUE(read) << read.error().to_string();
  EXPECT_EQ(read->argv, spec.argv);
  EXPECT_EQ(read->env, spec.env);
  EXPECT_EQ(read->working_dir, spec.working_dir);
  EXPECT_EQ(read->terminal->columns, 132);
  EXPECT_EQ(read->title, spec.title);
  EXPECT_EQ(encode_start(*read), *payload);
  for (std::size_t size = 0; size < payload->size(); ++size)
    EXPECT_FALSE(decode_start(std::string_view(*payload).substr(0, size))) << size;
}

// The table of a client, and what serve would send.
TEST(TaskTable, TellsAnErrorOfServeAsItIsAndOneOfInitNot) {
  const Error refused = Error(Error(ErrorCode::input_invalid, "no such\nsession").hint("open it"));
  for (const auto peer : {TaskTable::Peer::serve, TaskTable::Peer::init}) {
    const auto table = std::make_shared<TaskTable>([](std::string_view) { return ok(); }, peer);
    const auto task = table->start(full_spec());
    ASSERT_TRUE(task);
    const std::string frame = encode_frame(FrameType::end, 1, encode_end(refused));
    const auto taken = table->push(std::span(frame.data(), frame.size()));
    EXPECT_EQ(taken.has_value(), peer == TaskTable::Peer::serve);
    if (!taken) continue;
    const auto end = (*task)->end();
    ASSERT_FALSE(end);
    EXPECT_EQ(end.error().code(), ErrorCode::input_invalid);
    EXPECT_EQ(end.error().hint(), "open it");
  }
}

TEST(TaskTable, TellsHowAProgramEnded) {
  for (const Outcome& outcome : {Outcome{OutcomeKind::exited, 7, {}}, Outcome{OutcomeKind::signaled, SIGKILL, {}},
           Outcome{OutcomeKind::timed_out, 1500, {}}}) {
    const auto table = std::make_shared<TaskTable>([](std::string_view) { return ok(); }, TaskTable::Peer::serve);
    const auto task = table->start(full_spec());
    ASSERT_TRUE(task);
    TaskEnd said;
    said.outcome = outcome;
    said.cpu = milliseconds(30);
    const std::string frame = encode_frame(FrameType::end, 1, encode_end(said));
    ASSERT_TRUE(table->push(std::span(frame.data(), frame.size())));
    const auto end = (*task)->end();
    ASSERT_TRUE(end) << end.error().to_string();
    EXPECT_EQ(end->outcome.kind, outcome.kind);
    EXPECT_EQ(end->outcome.value, outcome.value);
    EXPECT_EQ(end->cpu, said.cpu);
  }
}

// Whoever runs out of time knows what is still to be said: no part of a piece has left.
TEST(TaskTable, SaysAPieceOfInputAsAWholeOrNotAtAll) {
  std::size_t sent = 0;
  const auto table = std::make_shared<TaskTable>([&](std::string_view frame) {
    if (frame[0] == static_cast<char>(FrameType::input)) sent += frame.size() - 12;
    return ok();
  });
  auto task = table->start(full_spec());
  ASSERT_TRUE(task);
  const std::string piece(task_protocol::kInputPieceBytes, 'x');
  ASSERT_TRUE((*task)->write_input(piece, Deadline::never()));
  ASSERT_TRUE((*task)->write_input(piece.substr(1), Deadline::never()));
  EXPECT_FALSE((*task)->write_input("ab", Deadline::after(milliseconds(1))));
  EXPECT_EQ(sent, task_protocol::kInputWindowBytes - 1);
  EXPECT_TRUE((*task)->write_input("a", Deadline::after(milliseconds(1))));
}

TEST(TaskTable, KnowsAProcessIdOnceInitHasSaidIt) {
  const auto table = std::make_shared<TaskTable>([](std::string_view) { return ok(); });
  const auto push = [&](std::uint32_t id, std::string_view bytes) {
    const std::string frame = encode_frame(FrameType::begun, id, bytes);
    return table->push(std::span(frame.data(), frame.size())).has_value();
  };
  TaskSpec usage;
  usage.kind = TaskOperation::usage;
  const auto first = table->start(full_spec());
  const auto second = table->start(full_spec());
  const auto operation = table->start(usage);
  ASSERT_TRUE(first && second && operation);
  EXPECT_EQ((*first)->pid(Deadline::after(milliseconds(1))), 0u);
  EXPECT_TRUE(push(1, std::string_view("\0\0\1\2", 4)));
  EXPECT_EQ((*first)->pid(Deadline::never()), 258u);
  EXPECT_EQ((*operation)->pid(Deadline::never()), 0u);
  EXPECT_FALSE(push(1, std::string_view("\0\0\1\3", 4))) << "twice";
  EXPECT_FALSE(push(2, std::string_view("\0\0\0\0", 4)));
  EXPECT_FALSE(push(2, "\xff\xff\xff\xff"));
  EXPECT_FALSE(push(2, "1"));
  EXPECT_FALSE(push(3, std::string_view("\0\0\1\2", 4))) << "an operation";
  table->fail(Error(ErrorCode::protocol_error, "nonsense"));
  EXPECT_EQ((*second)->pid(Deadline::never()), 0u) << "it ended before";
}

TEST(TaskTable, TellsOnceThatTheOtherSideOfAConnectionHasClosedItsHalf) {
  const auto table = std::make_shared<TaskTable>([](std::string_view) { return ok(); });
  TaskSpec spec;
  spec.kind = TaskOperation::connect;
  spec.argv = {"80"};
  const auto task = table->start(spec);
  const auto program = table->start(full_spec());
  ASSERT_TRUE(task && program);
  const auto push = [&](std::uint32_t id, std::string_view bytes) {
    const std::string frame = encode_frame(FrameType::out, id, bytes);
    return table->push(std::span(frame.data(), frame.size())).has_value();
  };
  EXPECT_TRUE(push(1, "x"));
  EXPECT_TRUE(push(1, ""));
  for (const std::string_view wanted : {"x", ""}) {
    const auto piece = (*task)->read(Deadline::after(milliseconds(0)));
    ASSERT_TRUE(piece && *piece);
    EXPECT_EQ((*piece)->bytes, wanted);
  }
  EXPECT_FALSE((*task)->read(Deadline::after(milliseconds(0))));
  EXPECT_FALSE(push(1, ""));
  EXPECT_FALSE(push(2, "")) << "a program has no half to close";
}

TEST(WatchReader, ReadsEventsHoweverTheyAreCut) {
  using namespace std::string_literals;
  const std::string bytes = "b\0\0c\0a/b\0!\0\0"s;
  const std::vector<WatchEvent> wanted = {{WatchKind::begun, ""}, {WatchKind::create, "a/b"}, {WatchKind::missed, ""}};
  for (std::size_t cut = 1; cut <= bytes.size(); ++cut) {
    WatchReader reader;
    std::vector<WatchEvent> seen;
    for (std::size_t at = 0; at < bytes.size(); at += cut) {
      const auto events = reader.push(std::string_view(bytes).substr(at, cut));
      ASSERT_TRUE(events);
      seen.insert(seen.end(), events->begin(), events->end());
    }
    EXPECT_EQ(seen, wanted) << cut;
  }
  EXPECT_FALSE(WatchReader().push("x\0a\0"s));
  EXPECT_FALSE(WatchReader().push("cca\0"s));
  EXPECT_FALSE(WatchReader().push("c\0"s + std::string(5000, 'a')));
}

}  // namespace
}  // namespace guard
