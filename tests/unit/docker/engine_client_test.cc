#include "docker/engine_client.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>

#include "common/file_io.h"
#include "tests/support/engine/fake_engine.h"

namespace guard::docker {
namespace {

using Then = FakeReply::Then;
using When = FakeReply::When;

// Long enough that a slow machine does not reach it; tests of the time-out itself use kSoon.
Deadline late() { return Deadline::after(milliseconds(30'000)); }
Deadline soon() { return Deadline::after(milliseconds(100)); }

class EngineClientTest : public testing::Test {
 protected:
  FakeEngine engine_;
  CancelToken cancel_;
  EngineClient client_{engine_.socket(), cancel_};
};

template <typename T>
ErrorCode code_of(const Result<T>& result) {
  EXPECT_FALSE(result.has_value());
  return result ? ErrorCode::internal : result.error().code();
}

TEST_F(EngineClientTest, PingSucceedsOnlyOnOk) {
  engine_.on("GET /_ping", fake_answer(200, "OK"));
  EXPECT_TRUE(client_.ping(late()));
  engine_.on("GET /_ping", fake_answer(200, "<html>"));
  EXPECT_EQ(code_of(client_.ping(late())), ErrorCode::protocol_error);
}

TEST_F(EngineClientTest, KeepsStatusAndMessageOfARefusal) {
  engine_.on("GET /_ping", fake_answer(503, R"({"message":"shutting \u001b[31mdown"})"));
  const auto pinged = client_.ping(late());
  ASSERT_EQ(code_of(pinged), ErrorCode::environment_unavailable);
  EXPECT_EQ(pinged.error().details().at("status"), "503");
  EXPECT_EQ(pinged.error().details().at("engine_message"), "shutting \\x1b[31mdown");
}

TEST_F(EngineClientTest, TimesOutOnAnEngineThatNeverAnswers) {
  engine_.on("GET /_ping", {"", Then::stay_silent, When::after_request});
  EXPECT_EQ(code_of(client_.ping(soon())), ErrorCode::execution_timeout);
}

TEST_F(EngineClientTest, TimesOutInTheMiddleOfAnAnswer) {
  engine_.on("GET /_ping", {"HTTP/1.1 200 OK\r\nContent-Le", Then::stay_silent, When::after_request});
  EXPECT_EQ(code_of(client_.ping(soon())), ErrorCode::execution_timeout);
}

TEST_F(EngineClientTest, StopsWaitingWhenCancelled) {
  engine_.on("GET /_ping", {"", Then::stay_silent, When::after_request});
  engine_.notify([this](const std::string&) { cancel_.cancel(); });
  EXPECT_EQ(code_of(client_.ping(Deadline::never())), ErrorCode::cancelled);
}

TEST_F(EngineClientTest, RefusesHalfAnAnswer) {
  const char* halves[] = {
      "HTTP/1.1 200 OK\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nO",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nOK\r\n",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n20\r\nOK",
      "",
  };
  for (const char* half : halves) {
    engine_.on("GET /_ping", {half, {}, {}});
    EXPECT_EQ(code_of(client_.ping(late())), ErrorCode::protocol_error) << half;
  }
}

TEST_F(EngineClientTest, RefusesAnAnswerThatEndsWithTheConnection) {
  engine_.on("GET /_ping", {"HTTP/1.1 200 OK\r\n\r\nOK", {}, {}});
  EXPECT_EQ(code_of(client_.ping(late())), ErrorCode::protocol_error);
}

TEST_F(EngineClientTest, RefusesNonsense) {
  const std::string nonsense[] = {
      "SSH-2.0-OpenSSH_9.2\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\nOK",
      "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nOKHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nOK\r\n0\r\n\r\n",
      "HTTP/1.1 200 OK\r\nX: " + std::string(64 * 1024, 'h') + "\r\nContent-Length: 2\r\n\r\nOK",
      "HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\nOK",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;x=" + std::string(1 << 20, 'x'),
      std::string(100'000, '\0'),
  };
  for (const auto& bytes : nonsense) {
    engine_.on("GET /_ping", {bytes, {}, {}});
    EXPECT_EQ(code_of(client_.ping(late())), ErrorCode::protocol_error) << bytes.substr(0, 80);
  }
}

TEST_F(EngineClientTest, RefusesAConnectionDroppedAfterAccept) {
  engine_.on("", {"", Then::hang_up, When::after_accept});
  EXPECT_EQ(code_of(client_.ping(late())), ErrorCode::protocol_error);
}

TEST_F(EngineClientTest, PutsChunksTogether) {
  engine_.on(
      "GET /_ping", {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nO\r\n1\r\nK\r\n0\r\n\r\n", {}, {}});
  EXPECT_TRUE(client_.ping(late()));
}

TEST(EngineClient, KeepsTheErrnoOfAConnectionThatCannotBeMade) {
  const CancelToken cancel;
  auto folder = TempDir::create();
  ASSERT_TRUE(folder);
  const auto errno_at = [&cancel](const std::string& path) {
    const auto pinged = EngineClient(path, cancel).ping(late());
    EXPECT_EQ(code_of(pinged), ErrorCode::environment_unavailable) << path;
    return pinged ? 0 : pinged.error().sys_errno();
  };
  EXPECT_EQ(errno_at((folder->path() / "none").string()), ENOENT);
  EXPECT_EQ(errno_at(std::string(300, 'x')), ENAMETOOLONG);
  EXPECT_EQ(errno_at(""), EINVAL);
  EXPECT_EQ(errno_at(std::string("\0abstract", 9)), EINVAL);

  // A socket whose owner is gone.
  const std::string stale = (folder->path() / "stale").string();
  {
    const UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, stale.data(), stale.size());
    ASSERT_EQ(::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  }
  EXPECT_EQ(errno_at(stale), ECONNREFUSED);
}

TEST_F(EngineClientTest, ReadsTheEnginesLimits) {
  engine_.on("GET /info",
      fake_answer(200,
          R"({"ServerVersion":"20.10.24","OSType":"linux","MemoryLimit":true,"SwapLimit":false,
                             "PidsLimit":true,"CpuCfsPeriod":true,"CpuCfsQuota":true,"CgroupVersion":"2",
                             "SecurityOptions":["name=seccomp,profile=default","name=rootless"],
                             "Runtimes":{"runc":{},"runsc":{}}})",
          "Api-Version: 1.41\r\n"));
  const auto info = client_.engine_info(late());
  ASSERT_TRUE(info) << info.error().to_string();
  EXPECT_EQ(info->version, "20.10.24");
  EXPECT_EQ(info->api_version, "1.41");
  EXPECT_TRUE(info->memory_limit && info->pids_limit && info->cpu_limit && info->seccomp && info->rootless);
  EXPECT_FALSE(info->swap_limit || info->apparmor || info->podman);
  EXPECT_EQ(info->runtimes, (std::vector<std::string>{"runc", "runsc"}));
}

TEST_F(EngineClientTest, TakesALimitOfTheWrongTypeAsMissing) {
  engine_.on(
      "GET /info", fake_answer(200, R"({"ServerVersion":"1","OSType":"linux","MemoryLimit":"yes","PidsLimit":1})"));
  const auto info = client_.engine_info(late());
  ASSERT_TRUE(info);
  EXPECT_FALSE(info->memory_limit || info->pids_limit || info->cpu_limit);
}

TEST_F(EngineClientTest, RefusesInfoWithoutItsMainFields) {
  for (const char* body : {"", "null", "[]", "{", R"({"ServerVersion":1,"OSType":"linux"})", R"({"OSType":"linux"})"}) {
    engine_.on("GET /info", fake_answer(200, body));
    EXPECT_EQ(code_of(client_.engine_info(late())), ErrorCode::protocol_error) << body;
  }
}

TEST_F(EngineClientTest, TellsAMissingImageFromAFailure) {
  engine_.on("GET /images/a:b/json", fake_answer(404, R"({"message":"No such image"})"));
  const auto missing = client_.inspect_image("a:b", late());
  ASSERT_TRUE(missing);
  EXPECT_FALSE(missing->has_value());
  engine_.on("GET /images/a:b/json", fake_answer(500, "{}"));
  EXPECT_EQ(code_of(client_.inspect_image("a:b", late())), ErrorCode::environment_unavailable);
}

TEST_F(EngineClientTest, ReadsWhatAnImageBrings) {
  engine_.on("GET /images/a:b/json",
      fake_answer(
          200, R"({"Id":"sha256:1","Config":{"Labels":{"k":"v"},"Env":["PATH=/bin","X="],"Volumes":{"/data":{}}}})"));
  const auto image = client_.inspect_image("a:b", late());
  ASSERT_TRUE(image && image->has_value());
  EXPECT_EQ((*image)->id, "sha256:1");
  EXPECT_EQ((*image)->labels.at("k"), "v");
  EXPECT_EQ((*image)->env_names, (std::vector<std::string>{"PATH", "X"}));
  EXPECT_TRUE((*image)->declares_volumes);
}

// A line end in a name must not become a second request.
TEST_F(EngineClientTest, EncodesNames) {
  static_cast<void>(client_.inspect_image("a b\r\nGET /evil?x#y%", late()));
  ASSERT_EQ(engine_.requests().size(), 1u);
  EXPECT_TRUE(engine_.requests()[0].starts_with("GET /images/a%20b%0D%0AGET%20/evil%3Fx%23y%25/json HTTP/1.1\r\n"));
}

class LoadImageTest : public EngineClientTest {
 protected:
  void SetUp() override {
    auto folder = TempDir::create();
    ASSERT_TRUE(folder);
    folder_.emplace(std::move(*folder));
    ASSERT_TRUE(write_file_atomically(folder_->path() / "tar", bytes_));
    tar_.reset(::open((folder_->path() / "tar").c_str(), O_RDONLY | O_CLOEXEC));
  }

  const std::string bytes_ = std::string(4'000'000, 't');  // more than a socket buffers
  std::optional<TempDir> folder_;
  UniqueFd tar_;
};

TEST_F(LoadImageTest, SendsTheFileAndBelievesASuccess) {
  engine_.on("POST /images/load?quiet=1", fake_answer(200, "{\"stream\":\"Loaded image: a\\n\"}\r\n"));
  const auto loaded = client_.load_image(tar_.get(), bytes_.size(), late());
  EXPECT_TRUE(loaded) << loaded.error().to_string();
  ASSERT_EQ(engine_.requests().size(), 1u);
  EXPECT_TRUE(engine_.requests()[0].ends_with("\r\n\r\n" + bytes_));
}

TEST_F(LoadImageTest, FindsTheErrorBehindA200) {
  engine_.on("POST /images/load",
      fake_answer(200, "{\"stream\":\"x\"}\n{\"errorDetail\":{\"message\":\"bad layer\"},\"error\":\"bad layer\"}\n"));
  const auto loaded = client_.load_image(tar_.get(), bytes_.size(), late());
  ASSERT_EQ(code_of(loaded), ErrorCode::image_build_failed);
  EXPECT_EQ(loaded.error().details().at("stderr"), "bad layer");
}

TEST_F(LoadImageTest, RefusesALineThatIsNoJson) {
  engine_.on("POST /images/load", fake_answer(200, "Loaded\n"));
  EXPECT_EQ(code_of(client_.load_image(tar_.get(), bytes_.size(), late())), ErrorCode::protocol_error);
}

TEST_F(LoadImageTest, ReportsAFileThatIsShorterThanAnnounced) {
  EXPECT_EQ(code_of(client_.load_image(tar_.get(), bytes_.size() + 1, late())), ErrorCode::io_error);
}

// The engine answers and hangs up before it has read everything: what it said counts, not the broken pipe.
TEST_F(LoadImageTest, ReadsTheReasonOfAnEarlyRefusal) {
  FakeReply reply = fake_answer(500, R"({"message":"no space left"})");
  reply.when = When::after_accept;
  engine_.on("", reply);
  const auto loaded = client_.load_image(tar_.get(), bytes_.size(), late());
  ASSERT_EQ(code_of(loaded), ErrorCode::image_build_failed);
  EXPECT_EQ(loaded.error().details().at("stderr"), "no space left");
}

TEST_F(LoadImageTest, BuildsWithoutNetworkAndCacheAndBelievesTheIdAlone) {
  engine_.on("POST /build?version=1&t=guard-run:r1&nocache=1&rm=1&forcerm=1&networkmode=none",
      fake_answer(200, "{\"stream\":\"Step 1/3\"}\r\n{\"aux\":{\"ID\":\"sha256:1\"}}\r\n{\"stream\":\"done\"}\r\n"));
  const auto built = client_.build_image(tar_.get(), bytes_.size(), "guard-run:r1", late());
  ASSERT_TRUE(built) << built.error().to_string();
  EXPECT_EQ(*built, "sha256:1");
}

TEST_F(LoadImageTest, ABuildThatTellsNoIdOrAnErrorHasFailed) {
  engine_.on("POST /build", fake_answer(200, "{\"stream\":\"Successfully built 1\"}\n"));
  EXPECT_EQ(code_of(client_.build_image(tar_.get(), bytes_.size(), "a:b", late())), ErrorCode::protocol_error);
  engine_.on("POST /build",
      fake_answer(200,
          "{\"aux\":{\"ID\":\"sha256:1\"}}\n{\"errorDetail\":{\"message\":\"no space\"},\"error\":\"no space\"}\n"));
  ASSERT_EQ(::lseek(tar_.get(), 0, SEEK_SET), 0);
  EXPECT_EQ(code_of(client_.build_image(tar_.get(), bytes_.size(), "a:b", late())), ErrorCode::image_build_failed);
  engine_.on("POST /build", fake_answer(500, "{\"message\":\"no\"}"));
  ASSERT_EQ(::lseek(tar_.get(), 0, SEEK_SET), 0);
  EXPECT_EQ(code_of(client_.build_image(tar_.get(), bytes_.size(), "a:b", late())), ErrorCode::image_build_failed);
}

TEST_F(EngineClientTest, ListsImagesByLabel) {
  engine_.on("GET /images/json?all=1&filters=",
      fake_answer(200, R"([{"Id":"sha256:1","Labels":{"a":"b"}},{"Id":"sha256:2","Labels":null}])"));
  const auto images = client_.list_images("a=b", late());
  ASSERT_TRUE(images) << images.error().to_string();
  ASSERT_EQ(images->size(), 2u);
  EXPECT_EQ((*images)[0].labels.at("a"), "b");
  engine_.on("GET /images/json", fake_answer(200, R"([{"Labels":{}}])"));
  EXPECT_EQ(code_of(client_.list_images("a=b", late())), ErrorCode::protocol_error);
}

TEST_F(EngineClientTest, CreatesContainersUnderTheirName) {
  engine_.on("POST /containers/create?name=guard-1", fake_answer(201, R"({"Id":"abc","Warnings":[]})"));
  const auto id = client_.create_container("guard-1", R"({"Image":"i"})", late());
  ASSERT_TRUE(id);
  EXPECT_EQ(*id, "abc");
  EXPECT_TRUE(engine_.requests()[0].find("Content-Type: application/json\r\n") != std::string::npos);
  EXPECT_TRUE(engine_.requests()[0].ends_with(R"({"Image":"i"})"));
}

TEST_F(EngineClientTest, NamesWhyAContainerWasNotCreated) {
  engine_.on("POST /containers/create", fake_answer(404, R"({"message":"No such image"})"));
  EXPECT_EQ(code_of(client_.create_container("n", "{}", late())), ErrorCode::image_missing);
  engine_.on("POST /containers/create", fake_answer(409, R"({"message":"in use"})"));
  const auto conflict = client_.create_container("n", "{}", late());
  ASSERT_EQ(code_of(conflict), ErrorCode::environment_creation_failed);
  EXPECT_EQ(conflict.error().details().at("stderr"), "in use");
  engine_.on("POST /containers/create", fake_answer(201, R"({"Id":7})"));
  EXPECT_EQ(code_of(client_.create_container("n", "{}", late())), ErrorCode::protocol_error);
}

// Somebody else started it: what it then says is not the answer to our question.
TEST_F(EngineClientTest, TakesAContainerThatRunsAlreadyAsAFailure) {
  engine_.on("POST /containers/a/start", {"HTTP/1.1 304 Not Modified\r\n\r\n", {}, {}});
  EXPECT_EQ(code_of(client_.start("a", late())), ErrorCode::environment_creation_failed);
}

TEST_F(EngineClientTest, KillingWhatDoesNotRunIsNoError) {
  const auto kill = [this]() -> Result<void> {
    GUARD_TRY_ASSIGN(const auto sent, client_.begin_kill("a", "SIGTERM", late()));
    return sent->finish();
  };
  for (const int status : {204, 404, 409}) {
    engine_.on("POST /containers/a/kill?signal=SIGTERM",
        status == 204 ? FakeReply{"HTTP/1.1 204 No Content\r\n\r\n", {}, {}} : fake_answer(status, "{}"));
    EXPECT_TRUE(kill()) << status;
  }
  // podman's word for the same, when the container ends just then.
  engine_.on("POST /containers/a/kill?signal=SIGTERM",
      fake_answer(
          500, R"({"cause":"container state improper","message":"can only kill running containers","response":500})"));
  EXPECT_TRUE(kill());
  engine_.on("POST /containers/a/kill", fake_answer(500, "{}"));
  engine_.on("POST /containers/a/kill?signal=SIGTERM", fake_answer(500, "{}"));
  EXPECT_FALSE(kill());
}

TEST_F(EngineClientTest, RefusesAStateThatLacksAField) {
  engine_.on("GET /containers/a/json",
      fake_answer(200, R"({"State":{"Status":"exited","Running":false,"OOMKilled":true,"ExitCode":137,"Error":""}})"));
  const auto state = client_.inspect_container("a", late());
  ASSERT_TRUE(state);
  EXPECT_TRUE(state->oom_killed);
  EXPECT_FALSE(state->running);
  EXPECT_EQ(state->exit_code, 137);
  // Without OOMKilled nobody could tell a killed run from a finished one.
  engine_.on(
      "GET /containers/a/json", fake_answer(200, R"({"State":{"Status":"exited","Running":false,"ExitCode":0}})"));
  EXPECT_EQ(code_of(client_.inspect_container("a", late())), ErrorCode::protocol_error);
}

TEST_F(EngineClientTest, RemovalEndsOnlyWhenTheContainerIsGone) {
  engine_.on("DELETE /containers/a?force=1&v=1", fake_answer(409, R"({"message":"removal in progress"})"));
  engine_.on("GET /containers/a/json", fake_answer(200, "{}"));
  engine_.then("GET /containers/a/json", fake_answer(404, "{}"));
  EXPECT_TRUE(client_.remove_container("a", late()));
  EXPECT_EQ(engine_.requests().size(), 4u);

  engine_.on("GET /containers/a/json", fake_answer(200, "{}"));
  EXPECT_EQ(code_of(client_.remove_container("a", soon())), ErrorCode::execution_timeout);

  engine_.on("DELETE /containers/a?force=1&v=1", fake_answer(404, "{}"));
  EXPECT_TRUE(client_.remove_container("a", late()));
  engine_.on("DELETE /containers/a?force=1&v=1", fake_answer(500, "{}"));
  EXPECT_FALSE(client_.remove_container("a", late()));
}

TEST_F(EngineClientTest, ListsByLabel) {
  engine_.on("GET /containers/json",
      fake_answer(200, R"([{"Id":"1","State":"running","Labels":{"guard.run":"r"}},{"Id":"2","Labels":null}])"));
  const auto list = client_.list_containers("guard.cache=ab", late());
  ASSERT_TRUE(list);
  ASSERT_EQ(list->size(), 2u);
  EXPECT_EQ((*list)[0].labels.at("guard.run"), "r");
  EXPECT_TRUE(engine_.requests()[0].starts_with(
      "GET /containers/json?all=1&filters=%7B%22label%22:%5B%22guard.cache%3Dab%22%5D%7D HTTP/1.1"));
  engine_.on("GET /containers/json", fake_answer(200, R"([{"State":"running"}])"));
  EXPECT_EQ(code_of(client_.list_containers("l", late())), ErrorCode::protocol_error);
}

std::string read_to_end(Attachment& attachment) {
  std::string bytes;
  while (true) {
    pollfd waiting{attachment.fd(), POLLIN, 0};
    EXPECT_EQ(::poll(&waiting, 1, 30'000), 1);
    const auto open = attachment.read_some(bytes);
    EXPECT_TRUE(open);
    if (!open || !*open) return bytes;
  }
}

constexpr const char* kUpgraded =
    "HTTP/1.1 101 UPGRADED\r\nContent-Type: application/vnd.docker.raw-stream\r\nConnection: Upgrade\r\nUpgrade: "
    "tcp\r\n\r\n";

// The first bytes of the stream may come in the same packet as the headers: they must wake the poll all the same.
TEST_F(EngineClientTest, LeavesBytesBehindTheHeadersInTheAttachedStream) {
  engine_.on(
      "POST /containers/a/attach?stream=1&stdin=1&stdout=1&stderr=1", {std::string(kUpgraded) + "early bytes", {}, {}});
  const auto attachment = client_.attach("a", late());
  ASSERT_TRUE(attachment) << attachment.error().to_string();
  EXPECT_EQ(read_to_end(**attachment), "early bytes");
  EXPECT_NE(engine_.requests()[0].find("Upgrade: tcp\r\n"), std::string::npos);
}

TEST_F(EngineClientTest, ReadSomeNeverWaits) {
  engine_.on("POST /containers/a/attach", {kUpgraded, Then::stay_silent, {}});
  const auto attachment = client_.attach("a", late());
  ASSERT_TRUE(attachment);
  std::string bytes;
  const auto open = (*attachment)->read_some(bytes);
  ASSERT_TRUE(open);
  EXPECT_TRUE(*open);
  EXPECT_EQ(bytes, "");
}

TEST_F(EngineClientTest, AttachesToAnOlderEngineThatAnswers200) {
  engine_.on("POST /containers/a/attach",
      {"HTTP/1.1 200 OK\r\nContent-Type: application/vnd.docker.raw-stream\r\n\r\nx", {}, {}});
  const auto attachment = client_.attach("a", late());
  ASSERT_TRUE(attachment);
  EXPECT_EQ(read_to_end(**attachment), "x");
}

TEST_F(EngineClientTest, RefusesAnAttachThatIsNoStream) {
  engine_.on("POST /containers/a/attach", fake_answer(200, "{}", "Content-Type: application/json\r\n"));
  EXPECT_FALSE(client_.attach("a", late()));
  engine_.on("POST /containers/a/attach", fake_answer(404, "{}"));
  EXPECT_FALSE(client_.attach("a", late()));
  engine_.on("POST /containers/a/attach", {"HTTP/1.1 101 UPG", {}, {}});
  EXPECT_EQ(code_of(client_.attach("a", late())), ErrorCode::protocol_error);
  engine_.on("POST /containers/a/attach", {"HTTP/1.1 101 UPG", Then::stay_silent, {}});
  EXPECT_EQ(code_of(client_.attach("a", soon())), ErrorCode::execution_timeout);
  engine_.on("POST /containers/a/attach", {"HTTP/1.1 101 X\r\nY: " + std::string(100'000, 'h'), Then::stay_silent, {}});
  EXPECT_EQ(code_of(client_.attach("a", late())), ErrorCode::protocol_error);
}

}  // namespace
}  // namespace guard::docker
