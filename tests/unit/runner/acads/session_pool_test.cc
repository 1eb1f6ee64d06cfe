// A session pool at Azure as it is documented, and all that it and its token endpoint may answer instead. Azure itself
// can't be had here: the server is tests/acads/pool.py.
#include "runner/acads/session_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/engine/azure_pool.h"

namespace guard::acads {
namespace {

using guard::testing::AzurePool;
using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr milliseconds kPatience{60'000};
const std::string kSession = "me/first";

SessionPool open_pool(const Environment& environment) {
  static const CancelToken kNever;
  auto pool = SessionPool::create(environment, kNever);
  EXPECT_TRUE(pool) << pool.error().to_string();
  return std::move(*pool);
}

// Nothing secret is in any part of an error.
void expect_no_secret(std::string_view text) {
  for (const std::string_view secret :
      {AzurePool::kSecret, std::string_view("s3cret"), AzurePool::kIdentityHeader, AzurePool::kToken})
    EXPECT_THAT(std::string(text), Not(HasSubstr(std::string(secret))));
}

Result<TaskOutput> run(SessionPool& pool, std::vector<std::string> argv, std::string_view input = {}) {
  TaskSpec task;
  task.argv = std::move(argv);
  return pool.execute(kSession, task, input, Deadline::after(kPatience));
}

// ---- as it should be ----

TEST(AcadsSession, RunsCommandsAndKeepsFilesAsTheDocumentedServerDoes) {
  const AzurePool server;
  SessionPool pool = open_pool(server.environment());
  const Deadline deadline = Deadline::after(kPatience);
  std::string bytes(300'000, '\0');
  for (std::size_t at = 0; at < bytes.size(); ++at) bytes[at] = static_cast<char>(at * 7);
  const auto sent = pool.upload(kSession, "in @ü.bin", bytes, deadline);
  ASSERT_TRUE(sent) << sent.error().to_string();
  const auto ended = run(pool, {"sh", "-c", "cat 'in @ü.bin' > out.bin; cat; echo oops >&2; exit 3"}, "said\n");
  ASSERT_TRUE(ended) << ended.error().to_string();
  EXPECT_EQ(ended->end.outcome.kind, OutcomeKind::exited);
  EXPECT_EQ(ended->end.outcome.value, 3);
  EXPECT_EQ(ended->out, "said\n");
  EXPECT_EQ(ended->err, "oops\n");
  EXPECT_FALSE(ended->cut);
  const auto files = pool.list(kSession, deadline);
  ASSERT_TRUE(files) << files.error().to_string();
  ASSERT_EQ(files->size(), 2u);
  EXPECT_EQ((*files)[1].name, "out.bin");
  EXPECT_EQ((*files)[1].bytes, bytes.size());
  std::string back;
  const auto take = [&back](std::string_view piece) -> Result<void> {
    back += piece;
    return ok();
  };
  ASSERT_TRUE(pool.download(kSession, "out.bin", take, deadline));
  EXPECT_EQ(back, bytes);
  ASSERT_TRUE(pool.close(kSession, deadline));
  EXPECT_EQ(pool.list(kSession, deadline)->size(), 0u);
  // One token for all of it, asked for and sent as documented.
  EXPECT_EQ(server.requests("POST /tenant.example/oauth2/v2.0/token").size(), 1u);
  for (const auto& request : server.requests("GET /pool"))
    EXPECT_THAT(request["start"].get<std::string>(), HasSubstr("api-version=2025-10-02-preview&identifier=guard-"));
}

// Words of a command line are data, whatever they look like.
TEST(AcadsSession, NeverReadsAWordAsPython) {
  const AzurePool server;
  SessionPool pool = open_pool(server.environment());
  const std::string nasty = "\")\nraise SystemExit('no')\n'''${x}$(id)\\\" \xc3\xbc {0} %s";
  const auto ended = run(pool, {"printf", "%s|%s", nasty, ""});
  ASSERT_TRUE(ended) << ended.error().to_string();
  EXPECT_EQ(ended->out, nasty + "|");
}

TEST(AcadsSession, BoundsOutputAndTimeAndEndsWhatACommandLeavesBehind) {
  const AzurePool server;
  SessionPool pool = open_pool(server.environment());
  const auto flood = run(pool, {"sh", "-c", "head -c 1000000 /dev/zero; sleep 1000 & echo >&2"});
  ASSERT_TRUE(flood) << flood.error().to_string();
  EXPECT_EQ(flood->out.size(), kOutputBytesMax);
  EXPECT_TRUE(flood->cut);
  TaskSpec slow;
  slow.argv = {"sleep", "1000"};
  slow.timeout = milliseconds(200);
  const auto ended = pool.execute(kSession, slow, {}, Deadline::after(kPatience));
  ASSERT_TRUE(ended) << ended.error().to_string();
  EXPECT_EQ(ended->end.outcome.kind, OutcomeKind::timed_out);
  const auto killed = run(pool, {"sh", "-c", "kill -9 $$"});
  ASSERT_TRUE(killed) << killed.error().to_string();
  EXPECT_EQ(killed->end.outcome.kind, OutcomeKind::signaled);
  EXPECT_EQ(killed->end.outcome.value, 9);
}

TEST(AcadsSession, TakesTheTokenOfAManagedIdentity) {
  const AzurePool server;
  Environment here = {{"GUARD_ACADS_ENDPOINT", server.url()}, {"SSL_CERT_FILE", server.certificate()},
      {"AZURE_CLIENT_ID", "an identity"}};
  Environment machine = here;
  machine["AZURE_POD_IDENTITY_AUTHORITY_HOST"] = server.plain_url();
  SessionPool by_machine = open_pool(machine);
  EXPECT_EQ(by_machine.identity(), "managed identity");
  EXPECT_TRUE(by_machine.list(kSession, Deadline::after(kPatience)));
  EXPECT_EQ(server
                .requests("GET /metadata/identity/oauth2/"
                          "token?api-version=2018-02-01&resource=https://dynamicsessions.io&client_id=an%20identity")
                .size(),
      1u);
  Environment app = here;
  app["IDENTITY_ENDPOINT"] = server.plain_url() + "/msi/token/";
  app["IDENTITY_HEADER"] = AzurePool::kIdentityHeader;
  SessionPool by_app = open_pool(app);
  EXPECT_TRUE(by_app.list(kSession, Deadline::after(kPatience)));
  EXPECT_EQ(server.requests("GET /msi/token?api-version=2019-08-01").size(), 1u);
}

TEST(AcadsSession, ReadsAllPagesOfAListAndGoesNowhereElse) {
  const AzurePool server;
  const auto page = [](std::string name, const json& next) {
    return json{{"body", {{"value", {{{"name", name}, {"type", "File"}}}}, {"nextLink", next}}}};
  };
  server.behave({{"GET /pool/files?skip", {page("b", nullptr)}},
      {"GET /pool/files",
          {page("a", server.url() + "/files?skip=1"), page("c", "https://evil.example/files?skip=1")}}});
  SessionPool pool = open_pool(server.environment());
  const auto files = pool.list(kSession, Deadline::after(kPatience));
  ASSERT_TRUE(files) << files.error().to_string();
  ASSERT_EQ(files->size(), 2u);
  EXPECT_EQ((*files)[1].name, "b");
  const auto led_away = pool.list(kSession, Deadline::after(kPatience));
  ASSERT_FALSE(led_away);
  EXPECT_EQ(led_away.error().code(), ErrorCode::protocol_error);
}

// ---- what may come instead ----

enum class Ask : std::uint8_t { execute, list, download, upload, close };

struct Situation {
  const char* name;
  json rules;
  Ask ask;
  ErrorCode code;
  const char* words;  // in message, frames or hint
};

// For readers of a failed test.
void PrintTo(const Situation& situation, std::ostream* out) { *out << situation.name; }

json rule(const char* start, const json& reply) { return {{start, {reply}}}; }

json printing(const json& line) {
  const json result = {{"stdout", line.is_string() ? line : json(line.dump())}};
  return rule("POST /pool/executions", {{"body", {{"status", "Succeeded"}, {"result", result}}}});
}

json pool_error(int status) {
  return {{"status", status}, {"body", {{"error", {{"code", "Code"}, {"message", "its own words"}}}}}};
}

const json kBusy = {{"status", 429}, {"headers", {{"Retry-After", "0"}}}};
constexpr const char* kToken = "POST /tenant.example/";
constexpr const char* kExecutions = "POST /pool/executions";
constexpr const char* kFiles = "GET /pool/files";

const std::vector<Situation>& situations() {
  using enum ErrorCode;
  static const std::vector<Situation> all = {
      {"FileIsNotThere", {}, Ask::download, file_not_found, "guard session ls"},
      {"PoolIsNotThere", rule(kExecutions, pool_error(404)), Ask::execute, file_not_found, "GUARD_ACADS_ENDPOINT"},
      {"SessionToCloseIsNotThere", rule("DELETE /pool/session", pool_error(404)), Ask::close, file_not_found, "404"},
      {"UploadIsTooLarge", rule("POST /pool/files", pool_error(413)), Ask::upload, file_too_large, "128 MB"},
      {"TokenIsRefused", rule(kFiles, pool_error(401)), Ask::list, environment_unavailable, "Session Executor"},
      {"RoleIsMissing", rule(kExecutions, pool_error(403)), Ask::execute, environment_unavailable, "its own words"},
      {"ThrottlesWithoutEnd", rule(kFiles, kBusy), Ask::list, environment_unavailable, "throttled"},
      {"ThrottlesForLongerThanThereIsTime", rule(kFiles, {{"status", 429}, {"headers", {{"Retry-After", "86400"}}}}),
          Ask::list, environment_unavailable, "try again in 86400 s"},
      {"IsOverloadedWithoutEnd", rule(kFiles, {{"status", 503}, {"headers", {{"Retry-After", "0"}}}}), Ask::list,
          environment_unavailable, "overloaded"},
      {"IsOverloadedAndMayHaveRunIt", rule(kExecutions, {{"status", 503}}), Ask::execute, environment_unavailable,
          "it may have run"},
      {"BreaksDown", rule(kExecutions, pool_error(500)), Ask::execute, environment_unavailable, "it may have run"},
      {"GatewayWaitsInVain", rule(kExecutions, pool_error(504)), Ask::execute, execution_timeout, "504"},
      {"RefusesTheRequest", rule(kExecutions, pool_error(400)), Ask::execute, input_invalid, "its own words"},
      {"RedirectsElsewhere", rule(kFiles, {{"status", 307}, {"headers", {{"Location", "https://evil.example/"}}}}),
          Ask::list, protocol_error, "redirects are not followed"},
      {"BreaksOffInTheMiddle", rule(kFiles, {{"body", "{\"value\": ["}, {"cut", true}}), Ask::list, protocol_error,
          "the session pool broke off"},
      {"BreaksOffInTheMiddleOfAFile", rule(kFiles, {{"body", "some"}, {"cut", true}}), Ask::download, protocol_error,
          "broke off"},
      {"DoesNotSayHowLongItIs", rule(kFiles, {{"body", "{}"}, {"endless", true}}), Ask::list, protocol_error,
          "does not say how long"},
      {"AnswersWithNoJson", rule(kFiles, {{"body", "<html>"}}), Ask::list, protocol_error, "is no list"},
      {"AnswersWithTooMuch", rule(kFiles, {{"body", "0123456789abcdef"}, {"repeat", 1 << 19}}), Ask::list,
          protocol_error, "makes no sense"},
      {"AnswersWithWrongTypes", rule(kFiles, {{"body", {{"value", {{{"name", 7}}}}}}}), Ask::list, protocol_error,
          "no file"},
      {"GoesOnAtNoPlace", rule(kFiles, {{"body", {{"value", json::array()}, {"nextLink", 7}}}}), Ask::list,
          protocol_error, "another place"},
      {"AnswersWithNothing", rule(kExecutions, {{"body", ""}}), Ask::execute, protocol_error, "is no execution"},
      {"SendsAFileThatIsTooLarge", rule(kFiles, {{"body", "0123456789abcdef"}, {"repeat", (8 << 20) + 1}}),
          Ask::download, file_too_large, "128 MB"},
      {"ClaimsAFileBeyondAllMeasure",
          rule(kFiles, {{"endless", true}, {"headers", {{"Content-Length", "1000000000000000000"}}}}), Ask::download,
          file_too_large, "128 MB"},
      {"AnswersWithNoFile", rule(kFiles, {{"status", 202}, {"body", "later"}}), Ask::download, protocol_error, "202"},
      {"ExecutionFails",
          rule(kExecutions, {{"body", {{"status", "Failed"}, {"result", {{"stdout", ""}, {"stderr", "Traceback"}}}}}}),
          Ask::execute, execution_failed, "Traceback"},
      {"ExecutionIsStillRunning", rule(kExecutions, {{"body", {{"status", "Running"}}}}), Ask::execute,
          execution_failed, "Running"},
      {"PrintsNoJson", printing("Hello"), Ask::execute, protocol_error, "holds no result"},
      {"PrintsHalfOfIt", printing("{\"kind\": \"exited\", \"val"), Ask::execute, protocol_error, "less output"},
      {"PrintsWrongTypes", printing({{"kind", 1}, {"value", "0"}, {"out", 2}, {"err", {3}}}), Ask::execute,
          protocol_error, "holds no result"},
      {"PrintsAnUnknownEnd", printing({{"kind", "passed"}, {"value", 0}, {"out", ""}, {"err", ""}}), Ask::execute,
          protocol_error, "holds no result"},
      {"PrintsWhatIsNoBase64", printing({{"kind", "exited"}, {"value", 0}, {"out", "!"}, {"err", ""}}), Ask::execute,
          protocol_error, "holds no result"},
      {"PrintsMoreThanWasAskedFor",
          printing({{"kind", "exited"}, {"value", 0}, {"out", std::string(400'000, 'A')}, {"err", ""}}), Ask::execute,
          protocol_error, "holds no result"},
      {"TokenEndpointRefuses",
          rule(kToken,
              {{"status", 401}, {"body", {{"error", "invalid_client"}, {"error_description", "AADSTS7000215"}}}}),
          Ask::list, environment_unavailable, "AADSTS7000215"},
      {"TokenEndpointSaysNothing", rule(kToken, {{"body", ""}}), Ask::list, protocol_error, "holds no token"},
      {"TokenHasTheWrongType", rule(kToken, {{"body", {{"access_token", 7}}}}), Ask::list, protocol_error,
          "holds no token"},
      {"TokenHoldsAnotherHeader", rule(kToken, {{"body", {{"access_token", "a\r\nX-Evil: 1"}}}}), Ask::list,
          protocol_error, "holds no token"},
      {"TokenEndpointThrottles", rule(kToken, kBusy), Ask::list, environment_unavailable, "the token endpoint"},
      {"TokenEndpointRedirects", rule(kToken, {{"status", 302}, {"headers", {{"Location", "https://evil.example/"}}}}),
          Ask::list, environment_unavailable, "302"},
      {"ServerRepeatsTheToken",
          rule(kFiles,
              {{"status", 400},
                  {"body", {{"error", {{"code", "no"}, {"message", "eyJ-token-1-of-the-scripted-pool"}}}}}}),
          Ask::list, input_invalid, "[REDACTED:azure]"},
      {"TokenEndpointRepeatsTheSecret",
          rule(kToken,
              {{"status", 400},
                  {"body", {{"error", "no"}, {"error_description", "s3cret/of+the&app s3cret/of%2Bthe%26app"}}}}),
          Ask::list, environment_unavailable, "[REDACTED:azure] [REDACTED:azure]"},
  };
  return all;
}

class AcadsSituation : public ::testing::TestWithParam<Situation> {};

TEST_P(AcadsSituation, IsATypedError) {
  const AzurePool server;
  server.behave(GetParam().rules);
  SessionPool pool = open_pool(server.environment());
  const Deadline deadline = Deadline::after(kPatience);
  std::optional<Error> error;
  const auto keep = [&error](const auto& result) {
    if (!result) error = result.error();
  };
  switch (GetParam().ask) {
    case Ask::execute: keep(run(pool, {"true"})); break;
    case Ask::list: keep(pool.list(kSession, deadline)); break;
    case Ask::download:
      keep(pool.download(
          kSession, "a", [](std::string_view) { return ok(); }, deadline));
      break;
    case Ask::upload: keep(pool.upload(kSession, "a", "bytes", deadline)); break;
    case Ask::close: keep(pool.close(kSession, deadline)); break;
  }
  ASSERT_TRUE(error);
  EXPECT_EQ(error->wire_name(), info(GetParam().code).wire_name) << error->to_string();
  EXPECT_THAT(error->to_string(), HasSubstr(GetParam().words));
  EXPECT_FALSE(error->hint().empty());
  expect_no_secret(error->to_string());
}

INSTANTIATE_TEST_SUITE_P(Server, AcadsSituation, ::testing::ValuesIn(situations()),
    [](const auto& one) { return std::string(one.param.name); });

// ---- what is tried again, and how ----

TEST(AcadsSession, GetsANewTokenOnceWhereTheOldOneIsRefused) {
  const AzurePool server;
  server.behave({{"GET /pool/files", {pool_error(401), {{"honest", true}}}}});
  SessionPool pool = open_pool(server.environment());
  EXPECT_TRUE(pool.list(kSession, Deadline::after(kPatience)));
  const auto asked = server.requests("GET /pool/files");
  ASSERT_EQ(asked.size(), 2u);
  EXPECT_EQ(asked[0]["head"]["authorization"], "Bearer eyJ-token-1-of-the-scripted-pool");
  EXPECT_EQ(asked[1]["head"]["authorization"], "Bearer eyJ-token-2-of-the-scripted-pool");
  server.behave({{"GET /pool/files", {pool_error(403)}}});
  EXPECT_FALSE(pool.list(kSession, Deadline::after(kPatience)));
  EXPECT_EQ(server.requests("GET /pool/files").size(), 4u);
}

TEST(AcadsSession, ComesBackAfterThrottling) {
  const AzurePool server;
  server.behave({{"POST /pool/executions", {kBusy, kBusy, {{"honest", true}}}}});
  SessionPool pool = open_pool(server.environment());
  const auto ended = run(pool, {"echo", "there"});
  ASSERT_TRUE(ended) << ended.error().to_string();
  EXPECT_EQ(ended->out, "there\n");
  EXPECT_EQ(server.requests("POST /pool/executions").size(), 3u);
}

TEST(AcadsSession, RunsACommandOnceWhereTheServerBreaksDown) {
  const AzurePool server;
  server.behave({{"POST /pool/executions", {{{"status", 503}}, {{"honest", true}}}}});
  SessionPool busy = open_pool(server.environment());
  EXPECT_FALSE(run(busy, {"echo", "there"}));
  EXPECT_EQ(server.requests("POST /pool/executions").size(), 1u);
  server.behave(rule(kExecutions, pool_error(502)));
  SessionPool pool = open_pool(server.environment());
  EXPECT_FALSE(run(pool, {"true"}));
  EXPECT_EQ(server.requests("POST /pool/executions").size(), 2u) << "one each";
}

TEST(AcadsSession, EndsAtTheDeadlineWhereTheServerSaysNothing) {
  const AzurePool server;
  server.behave(rule(kFiles, {{"hang", true}}));
  SessionPool pool = open_pool(server.environment());
  const auto late = pool.list(kSession, Deadline::after(milliseconds(2000)));
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code(), ErrorCode::execution_timeout) << late.error().to_string();
  EXPECT_THAT(late.error().to_string(), HasSubstr("the session pool at https://localhost"));
}

TEST(AcadsSession, EndsWhenItIsCancelledWhileItWaits) {
  const AzurePool server;
  server.behave(rule(kFiles, {{"status", 429}, {"headers", {{"Retry-After", "50"}}}}));
  CancelToken cancel;
  auto pool = SessionPool::create(server.environment(), cancel);
  ASSERT_TRUE(pool);
  std::thread stop([&] {
    while (server.requests("GET /pool/files").empty()) std::this_thread::sleep_for(milliseconds(10));
    cancel.cancel();
  });
  const auto stopped = pool->list(kSession, Deadline::after(kPatience));
  stop.join();
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code(), ErrorCode::cancelled) << stopped.error().to_string();
}

// ---- who is spoken to ----

TEST(AcadsSession, SendsNothingToAServerThatItCannotTrust) {
  const AzurePool named("other.example");
  SessionPool wrong_name = open_pool(named.environment());
  const AzurePool server;
  server.make_certificate("another", "localhost");
  Environment foreign = server.environment();
  foreign["SSL_CERT_FILE"] = server.path() / "another.pem";
  SessionPool unknown = open_pool(foreign);
  Environment nowhere = server.environment();
  nowhere["SSL_CERT_FILE"] = server.path() / "missing.pem";
  SessionPool unread = open_pool(nowhere);
  for (SessionPool* pool : {&wrong_name, &unknown, &unread}) {
    const auto refused = pool->list(kSession, Deadline::after(kPatience));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), ErrorCode::environment_unavailable);
    EXPECT_THAT(refused.error().to_string(), HasSubstr("SSL_CERT_FILE"));
    expect_no_secret(refused.error().to_string());
  }
  EXPECT_TRUE(named.requests().empty());
  EXPECT_TRUE(server.requests().empty());
}

TEST(AcadsSession, SaysWhereNobodyListens) {
  Environment environment = AzurePool().environment();
  SessionPool pool = open_pool(environment);
  const auto refused = pool.list(kSession, Deadline::after(kPatience));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::environment_unavailable) << refused.error().to_string();
}

// The secret goes to the token endpoint, the token to the pool, and neither to the other one.
TEST(AcadsSession, ShowsEachSecretToTheOneThatItIsFor) {
  const AzurePool pool_server;
  const AzurePool token_server;
  Environment environment = pool_server.environment();
  environment["AZURE_AUTHORITY_HOST"] = token_server.environment()["AZURE_AUTHORITY_HOST"];
  const auto both =
      read_file(pool_server.certificate(), 1u << 16).value() + read_file(token_server.certificate(), 1u << 16).value();
  ASSERT_TRUE(write_file_atomically(pool_server.path() / "both.pem", both));
  environment["SSL_CERT_FILE"] = pool_server.path() / "both.pem";
  SessionPool pool = open_pool(environment);
  EXPECT_TRUE(pool.list(kSession, Deadline::after(kPatience)));
  ASSERT_EQ(pool_server.requests().size(), 1u);
  ASSERT_EQ(token_server.requests().size(), 1u);
  EXPECT_THAT(pool_server.requests()[0].dump(), Not(HasSubstr("s3cret")));
  EXPECT_THAT(token_server.requests()[0].dump(), Not(HasSubstr("eyJ")));
}

TEST(AcadsSession, RefusesAnEnvironmentThatMakesNoSense) {
  const CancelToken never;
  const Environment good = {{"GUARD_ACADS_ENDPOINT", "https://west.dynamicsessions.io/subscriptions/x"}};
  ASSERT_TRUE(SessionPool::create(good, never));
  const std::map<std::string, Environment> wrong = {
      {"GUARD_ACADS_ENDPOINT is not set", {}},
      {"GUARD_ACADS_ENDPOINT is no https", {{"GUARD_ACADS_ENDPOINT", "http://127.0.0.1/pool"}}},
      {"names no host", {{"GUARD_ACADS_ENDPOINT", "https://me:key@host/pool"}}},
      {"has a path with", {{"GUARD_ACADS_ENDPOINT", "https://host/pool?sig=key"}}},
      {"AZURE_TENANT_ID is missing", {{"AZURE_CLIENT_SECRET", "key"}, {"AZURE_CLIENT_ID", "app"}}},
      {"missing or no id", {{"AZURE_CLIENT_SECRET", "key"}, {"AZURE_CLIENT_ID", "app"}, {"AZURE_TENANT_ID", "a/../b"}}},
      {"AZURE_AUTHORITY_HOST is no https",
          {{"AZURE_CLIENT_SECRET", "key"}, {"AZURE_CLIENT_ID", "app"}, {"AZURE_TENANT_ID", "t"},
              {"AZURE_AUTHORITY_HOST", "http://127.0.0.1"}}},
      {"IDENTITY_HEADER is missing", {{"IDENTITY_ENDPOINT", "http://127.0.0.1/msi/token"}}},
      {"is plain http to another machine",
          {{"IDENTITY_ENDPOINT", "http://10.0.0.1/msi/token"}, {"IDENTITY_HEADER", "key"}}},
  };
  for (const auto& [words, environment] : wrong) {
    Environment all = environment;
    if (!words.starts_with("GUARD_ACADS_ENDPOINT is not")) all.insert(good.begin(), good.end());
    const auto refused = SessionPool::create(all, never);
    ASSERT_FALSE(refused) << words;
    EXPECT_EQ(refused.error().code(), ErrorCode::config_invalid);
    EXPECT_THAT(refused.error().to_string(), HasSubstr(words));
    EXPECT_THAT(refused.error().to_string(), Not(HasSubstr("key")));
  }
}

// ---- what is never sent ----

TEST(AcadsSession, SendsNoFileThatAzureWouldRefuse) {
  const AzurePool server;
  SessionPool pool = open_pool(server.environment());
  const std::string large(kFileBytesMax + 1, 'x');
  const auto refused = pool.upload(kSession, "large", large, Deadline::after(kPatience));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::file_too_large);
  EXPECT_THAT(refused.error().to_string(), HasSubstr("128 MB"));
  TaskSpec task;
  task.argv = {"true"};
  task.timeout = kCommandLimitMax + milliseconds(1);
  EXPECT_EQ(pool.execute(kSession, task, {}, Deadline::after(kPatience)).error().code(), ErrorCode::input_invalid);
  task.timeout = milliseconds(0);
  task.working_dir = "/workspace/../etc";
  EXPECT_EQ(pool.execute(kSession, task, {}, Deadline::after(kPatience)).error().code(), ErrorCode::input_invalid);
  EXPECT_TRUE(server.requests().empty());
}

TEST(AcadsFileName, IsFlatAndOfCharactersThatAzureTakes) {
  for (const char* path : {"a.txt", "/workspace/a.txt"}) EXPECT_EQ(file_name(path).value(), "a.txt");
  EXPECT_EQ(file_name("ü @$&=;,#%^().csv").value(), "ü @$&=;,#%^().csv");
  using std::string_literals::operator""s;
  for (const std::string& path :
      {""s, "."s, ".."s, "/workspace"s, "/workspace/"s, "/workspace/a/b"s, "a/b"s, "../a"s, "/etc/passwd"s,
          "/mnt/data/a"s, "a\0b"s, "a\"b"s, "a\r\nb"s, "a\\b"s, "a\xff"s, "a?b"s, std::string(256, 'a')}) {
    const auto refused = file_name(path);
    ASSERT_FALSE(refused) << path;
    EXPECT_EQ(refused.error().code(), ErrorCode::input_invalid);
    EXPECT_THAT(refused.error().to_string(), HasSubstr("hint: files lie in /workspace"));
  }
}

}  // namespace
}  // namespace guard::acads
