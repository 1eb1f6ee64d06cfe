// Pulling an image: from Debian's own registry into a real engine, and from engines that fail in every way they can.
#include "runner/image/engine_image.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "common/file_io.h"
#include "docker/engine_client.h"
#include "tests/support/engine/fake_engine.h"
#include "tests/support/engine/image_registry.h"

namespace guard {
namespace {

using testing::docker_command;
using testing::ImageRegistry;
using testing::RegistryLogin;

const std::string kDigest = "sha256:" + std::string(64, 'a');

std::string chunk(std::string_view text) { return fmt::format("{:x}\r\n{}\r\n", text.size(), text); }
std::string streamed(std::string_view text) {
  return "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk(text);
}
FakeReply whole_stream(std::string_view text) { return {streamed(text) + "0\r\n\r\n", {}, {}}; }
constexpr std::string_view kPulling = "{\"status\":\"Pulling from tools/runner\",\"id\":\"1\"}\r\n";

class PullFromAScript : public ::testing::Test {
 protected:
  void SetUp() override {
    auto made = TempDir::create();
    ASSERT_TRUE(made);
    folder_.emplace(std::move(*made));
    request_.engine = engine_.socket();
    request_.reference = "r.example/tools/runner:1";
    request_.pull = PullImage::if_missing;
    request_.environment = {{"HOME", folder_->path().string()}};
    request_.progress = [this](std::string_view sentence) { told_.emplace_back(sentence); };
    engine_.on("GET /images/", fake_answer(404, "{}"));
  }

  void write_docker_config(std::string_view text) {
    ASSERT_TRUE(make_folders(folder_->path() / ".docker"));
    ASSERT_TRUE(write_file_atomically(folder_->path() / ".docker" / "config.json", text));
  }

  Error failure() {
    const auto found = find_or_pull_image(request_, cancel_);
    EXPECT_FALSE(found);
    return found ? Error(ErrorCode::internal, "it was found") : found.error();
  }
  // The typed error, and exit 3.
  Error pull_failure() {
    Error error = failure();
    EXPECT_EQ(error.code(), ErrorCode::image_pull_failed) << error.to_string();
    EXPECT_EQ(error.exit_status(), 3);
    EXPECT_EQ(error.details().count("image"), 1u);
    EXPECT_EQ(error.details().count("stderr"), 1u);
    return error;
  }
  void expect_pull_failure() { static_cast<void>(pull_failure()); }
  int pulls() const {
    int count = 0;
    for (const auto& request : engine_.requests()) count += request.starts_with("POST /images/create") ? 1 : 0;
    return count;
  }

  std::optional<TempDir> folder_;
  FakeEngine engine_;
  CancelToken cancel_;
  EngineImageRequest request_;
  std::vector<std::string> told_;
};

TEST_F(PullFromAScript, WhatIsThereIsNotPulled) {
  engine_.on("GET /images/", fake_answer(200, R"({"Id":"sha256:1"})"));
  const auto found = find_or_pull_image(request_, cancel_);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->id, "sha256:1");
  EXPECT_FALSE(found->pulled);
  EXPECT_EQ(pulls(), 0);
}

TEST_F(PullFromAScript, NothingIsPulledUnasked) {
  request_.pull = PullImage::never;
  const Error error = failure();
  EXPECT_EQ(error.code(), ErrorCode::image_missing);
  EXPECT_EQ(error.exit_status(), 3);
  EXPECT_EQ(error.details().at("image"), request_.reference);
  EXPECT_NE(error.hint().find("docker pull r.example/tools/runner:1"), std::string_view::npos) << error.hint();
  EXPECT_NE(error.hint().find("guard image build"), std::string_view::npos) << error.hint();
  EXPECT_EQ(pulls(), 0);
}

TEST_F(PullFromAScript, ANameWithoutATagIsNeverTakenForTheLatest) {
  for (const char* reference : {"r.example/tools/runner", "sha256:12", "r.example/Runner:?"}) {
    request_.reference = reference;
    expect_pull_failure();
  }
  request_.reference = "localhost:5000/runner";
  EXPECT_NE(pull_failure().hint().find("localhost:5000/runner:latest"), std::string_view::npos);
  EXPECT_EQ(pulls(), 0);
}

TEST_F(PullFromAScript, PullsWhatIsMissingAndLooksAgain) {
  engine_.on("GET /images/", fake_answer(404, "{}"));
  engine_.then("GET /images/", fake_answer(200, R"({"Id":"sha256:2"})"));
  engine_.on("POST /images/create?fromImage=r.example/tools/runner&tag=1 ",
      whole_stream(std::string(kPulling) + "{\"status\":\"Status: Downloaded\"}\r\n"));
  const auto found = find_or_pull_image(request_, cancel_);
  ASSERT_TRUE(found) << found.error().to_string();
  EXPECT_EQ(found->id, "sha256:2");
  EXPECT_TRUE(found->pulled);
  EXPECT_EQ(told_, std::vector<std::string>{"pulling r.example/tools/runner:1"});
  EXPECT_EQ(engine_.requests()[1].find("X-Registry-Auth"), std::string::npos);
}

TEST_F(PullFromAScript, SendsTheCredentialsOfThatRegistryAndShowsNoneOfThem) {
  write_docker_config(R"({"auths":{"r.example":{"auth":"bmFtZTpzM2NyM3Q="},"other.example":{"auth":"eDp5"}}})");
  engine_.on(
      "POST /images/create", fake_answer(500, R"({"message":"denied: name:s3cr3t (bmFtZTpzM2NyM3Q=)\u001b[31m"})"));
  const Error error = pull_failure();
  EXPECT_NE(engine_.requests()[1].find("\r\nX-Registry-Auth: ey"), std::string::npos) << engine_.requests()[1];
  EXPECT_EQ(error.details().at("stderr"), "denied: name:[REDACTED] ([REDACTED])\\x1b[31m");
  EXPECT_EQ(error.details().at("status"), "500");
  EXPECT_EQ(error.to_string().find("s3cr3t"), std::string::npos) << error.to_string();
}

TEST_F(PullFromAScript, SaysThatHelpersAreNotRun) {
  write_docker_config(R"({"credsStore":"secretservice"})");
  engine_.on("POST /images/create", fake_answer(404, R"({"message":"pull access denied"})"));
  const Error error = pull_failure();
  EXPECT_NE(error.hint().find("secretservice"), std::string_view::npos) << error.hint();
  EXPECT_EQ(error.details().at("stderr"), "pull access denied");
}

TEST_F(PullFromAScript, ABrokenDockerConfigEndsItBeforeAnythingIsAsked) {
  write_docker_config("{");
  expect_pull_failure();
  EXPECT_EQ(pulls(), 0);
}

// Each says 200 first.
TEST_F(PullFromAScript, WhatEndsBadlyIsNoImage) {
  engine_.then("GET /images/", fake_answer(200, R"({"Id":"sha256:2"})"));
  const FakeReply replies[] = {
      whole_stream(std::string(kPulling) + "{\"errorDetail\":{\"message\":\"disk full\"},\"error\":\"disk full\"}\r\n" +
          std::string(kPulling)),
      {streamed(kPulling), {}, {}},                             // the connection ends, the answer does not
      {streamed(std::string(kPulling).substr(0, 20)), {}, {}},  // and that inside a line
      whole_stream(std::string(kPulling).substr(0, 20)),        // the answer ends inside a line
      whole_stream("<html>200 but a proxy</html>\r\n"),
      {"HTTP/1.1 200 OK\r\n\r\n" + std::string(kPulling), {}, {}},  // no length
      {streamed(kPulling) + "zz\r\n", {}, {}},                      // no chunk
  };
  for (const FakeReply& reply : replies) {
    // The image would be there at the second look: what the engine said of the pull counts, too.
    engine_.on("GET /images/", fake_answer(404, "{}"));
    engine_.then("GET /images/", fake_answer(200, R"({"Id":"sha256:2"})"));
    engine_.on("POST /images/create", reply);
    expect_pull_failure();
  }
}

TEST_F(PullFromAScript, AnEngineThatOnlyClaimsToHavePulledHasNot) {
  engine_.on("POST /images/create", whole_stream(kPulling));
  expect_pull_failure();
}

TEST_F(PullFromAScript, TheDigestThatWasAskedForIsTheOneThatCounts) {
  request_.reference = "r.example/tools/runner@" + kDigest;
  engine_.on("POST /images/create", whole_stream(kPulling));
  const std::string others[] = {R"({"Id":"sha256:2"})", R"({"Id":"sha256:2","RepoDigests":null})",
      R"({"Id":"sha256:2","RepoDigests":["r.example/tools/runner@sha256:)" + std::string(64, 'b') + "\"]}",
      R"({"Id":"sha256:2","RepoDigests":["r.example/tools/other@)" + kDigest + "\"]}"};
  for (const std::string& shown : others) {
    engine_.on("GET /images/", fake_answer(404, "{}"));
    engine_.then("GET /images/", fake_answer(200, shown));
    expect_pull_failure();
  }
  engine_.on("GET /images/", fake_answer(404, "{}"));
  engine_.then("GET /images/",
      fake_answer(200, R"({"Id":"sha256:2","RepoDigests":["r.example/tools/runner@)" + kDigest + "\"]}"));
  const auto found = find_or_pull_image(request_, cancel_);
  ASSERT_TRUE(found) << found.error().to_string();
  EXPECT_EQ(engine_.requests().back().find("POST"), std::string::npos);
}

TEST_F(PullFromAScript, AnEngineThatHangsIsWaitedForOnlySoLong) {
  request_.pull_limit = milliseconds(200);
  for (const std::string& said : {std::string(), streamed(kPulling)}) {
    engine_.on("POST /images/create", {said, FakeReply::Then::stay_silent, {}});
    const auto began = SteadyClock::now();
    expect_pull_failure();
    EXPECT_LT(SteadyClock::now() - began, milliseconds(5'000));
  }
}

TEST_F(PullFromAScript, HeedsACancelInTheMiddleOfTheStream) {
  engine_.on("POST /images/create", {streamed(kPulling), FakeReply::Then::stay_silent, {}});
  std::thread later;
  engine_.notify([&](const std::string& request) {
    if (!request.starts_with("POST")) return;
    later = std::thread([this] {
      std::this_thread::sleep_for(milliseconds(50));
      cancel_.cancel(15);
    });
  });
  const Error error = failure();
  if (later.joinable()) later.join();
  EXPECT_EQ(error.code(), ErrorCode::cancelled) << error.to_string();
}

// ---- the real ones --------------------------------------------------------------------------------------------------

class PullFromARegistry : public ::testing::Test {
 protected:
  void SetUp() override {
    GUARD_NEEDS_TEST_REGISTRY();
    auto made = TempDir::create();
    ASSERT_TRUE(made);
    folder_.emplace(std::move(*made));
    request_.engine = test_engine_socket();
    request_.pull = PullImage::if_missing;
    request_.environment = {{"DOCKER_CONFIG", config().string()}};
  }

  std::filesystem::path config() const { return folder_->path() / "docker"; }

  // Pushes an image of one small file and takes it away from the engine. Returns its reference; `digest` is the
  // registry's.
  std::string offer(const std::string& host, std::string* digest = nullptr) {
    static int number = 0;
    const std::string reference = fmt::format("{}/tools/tiny-{}-{}:1", host, ::getpid(), ++number);
    std::ofstream(folder_->path() / "file") << reference;
    docker_command(config(), {"import", "--change", "CMD [\"/none\"]", tar(), reference});
    docker_command(config(), {"push", "--quiet", reference});
    const auto inspected =
        docker_command(config(), {"image", "inspect", "--format", "{{index .RepoDigests 0}}", reference});
    if (digest != nullptr) *digest = inspected.substr(inspected.find('@') + 1, 71);
    docker_command(config(), {"rmi", reference});
    return reference;
  }

  std::string tar() {
    ProcessSpec spec;
    spec.argv = {"tar", "-C", folder_->path().string(), "-cf", (folder_->path() / "tiny.tar").string(), "file"};
    spec.env = {{"PATH", "/usr/bin:/bin"}};
    EXPECT_TRUE(collect_process(spec, 4096, cancel_));
    return (folder_->path() / "tiny.tar").string();
  }

  Error failure() {
    const auto found = find_or_pull_image(request_, cancel_);
    EXPECT_FALSE(found);
    if (found) return Error(ErrorCode::internal, "it was pulled");
    EXPECT_EQ(found.error().code(), ErrorCode::image_pull_failed) << found.error().to_string();
    EXPECT_EQ(found.error().details().at("image"), request_.reference);
    EXPECT_FALSE(found.error().details().at("stderr").empty());
    return found.error();
  }

  void expect_failure() { static_cast<void>(failure()); }

  void expect_pulled() {
    const auto found = find_or_pull_image(request_, cancel_);
    ASSERT_TRUE(found) << found.error().to_string();
    EXPECT_TRUE(found->pulled);
    EXPECT_TRUE(found->id.starts_with("sha256:")) << found->id;
    const auto again = find_or_pull_image(request_, cancel_);
    ASSERT_TRUE(again) << again.error().to_string();
    EXPECT_FALSE(again->pulled);
    EXPECT_EQ(again->id, found->id);
    docker_command(config(), {"rmi", "--force", found->id});
  }

  std::optional<TempDir> folder_;
  CancelToken cancel_;
  EngineImageRequest request_;
};

TEST_F(PullFromARegistry, ByTagByDigestAndByBoth) {
  const auto registry = ImageRegistry::start(RegistryLogin::none);
  ASSERT_TRUE(registry);
  std::string digest;
  const std::string tagged = offer(registry->host(), &digest);
  ASSERT_TRUE(digest.starts_with("sha256:")) << digest;
  const std::string repository = tagged.substr(0, tagged.rfind(':'));
  for (const std::string& reference : {tagged, repository + "@" + digest, tagged + "@" + digest}) {
    SCOPED_TRACE(reference);
    request_.reference = reference;
    expect_pulled();
  }
}

TEST_F(PullFromARegistry, WhatTheRegistryDoesNotHave) {
  const auto registry = ImageRegistry::start(RegistryLogin::none);
  ASSERT_TRUE(registry);
  const std::string tagged = offer(registry->host());
  const std::string repository = tagged.substr(0, tagged.rfind(':'));
  for (const std::string& reference :
      {repository + "@" + kDigest, tagged + "@" + kDigest, repository + ":2", registry->host() + "/tools/unknown:1"}) {
    SCOPED_TRACE(reference);
    request_.reference = reference;
    expect_failure();
  }
}

TEST_F(PullFromARegistry, ARegistryThatIsDown) {
  request_.reference = ImageRegistry::host_of_nobody() + "/tools/tiny:1";
  expect_failure();
}

TEST_F(PullFromARegistry, WithTheCredentialsOfDockerLoginAndNotWithout) {
  const auto registry = ImageRegistry::start(RegistryLogin::needed);
  ASSERT_TRUE(registry);
  docker_command(config(),
      {"login", "--username", ImageRegistry::kUser, "--password", ImageRegistry::kPassword, registry->host()});
  request_.reference = offer(registry->host());
  const std::string good = config().string();

  request_.environment = {{"DOCKER_CONFIG", (folder_->path() / "nothing").string()}};
  expect_failure();
  const auto wrong = folder_->path() / "wrong";
  ASSERT_TRUE(make_folders(wrong));
  ASSERT_TRUE(write_file_atomically(
      wrong / "config.json", fmt::format(R"({{"auths":{{"{}":{{"auth":"dGVzdGVyOndyb25n"}}}}}})", registry->host())));
  request_.environment = {{"DOCKER_CONFIG", wrong.string()}};
  const Error error = failure();
  EXPECT_EQ(error.to_string().find("dGVzdGVyOndyb25n"), std::string::npos);

  request_.environment = {{"DOCKER_CONFIG", good}};
  expect_pulled();
}

}  // namespace
}  // namespace guard
