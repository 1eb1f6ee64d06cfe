// `guard mcp` as an agent starts it: messages in, messages out, whatever the client does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sstream>
#include <thread>

#include "runner/process/child_process.h"
#include "tests/support/program/git_repository.h"
#include "tests/support/program/guard_program.h"

namespace guard::testing {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class Client {
 public:
  Client(std::vector<std::string> words, const Project& project, const std::map<std::string, std::string>& more) {
    auto in = make_pipe(ErrorCode::io_error);
    auto out = make_pipe(ErrorCode::io_error);
    ChildSpec spec;
    spec.argv = {GUARD_PROGRAM, "mcp"};
    spec.argv.insert(spec.argv.end(), words.begin(), words.end());
    spec.cwd = project.path();
    spec.env = project.environment();
    for (const auto& [name, value] : more) spec.env[name] = value;
    spec.descriptors = {{in->read.get(), 0}, {out->write.get(), 1}, {2, 2}};
    child_ = ChildProcess::start(spec);
    EXPECT_TRUE(child_) << child_.error().to_string();
    in_ = std::move(in->write);
    out_ = std::move(out->read);
  }

  void send(const std::string& line) const {
    const std::string bytes = line + "\n";
    EXPECT_EQ(::write(in_.get(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  }
  // The next message; null where none comes.
  json next(milliseconds within = milliseconds(20'000)) {
    for (;;) {
      if (const std::size_t end = text_.find('\n'); end != std::string::npos) {
        const std::string line = text_.substr(0, end);
        text_.erase(0, end + 1);
        return json::parse(line, nullptr, false);
      }
      pollfd wanted{out_.get(), POLLIN, 0};
      if (::poll(&wanted, 1, static_cast<int>(within.count())) <= 0) return nullptr;
      char chunk[65536];
      const ssize_t size = ::read(out_.get(), chunk, sizeof chunk);
      if (size <= 0) return nullptr;
      text_.append(chunk, static_cast<std::size_t>(size));
    }
  }
  void ask(const json& id, const std::string& method, const json& parameters = json::object()) const {
    send(json({{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", parameters}}).dump());
  }
  json answer(const std::string& method, const json& parameters = json::object()) {
    const int id = ++id_;
    ask(id, method, parameters);
    for (;;) {
      json said = next();
      if (said.is_null()) ADD_FAILURE() << "no answer to " << method;
      if (said.is_null() || said.value("id", json()) == id) return said;
    }
  }
  json call(const std::string& tool, const json& arguments) {
    return answer("tools/call", {{"name", tool}, {"arguments", arguments}})["result"];
  }
  json structured(const std::string& tool, const json& arguments) { return call(tool, arguments)["structuredContent"]; }

  // Its exit status, once it has nothing to read any more.
  int end() {
    in_.reset();
    return reap();
  }
  void close_input() { in_.reset(); }
  void kill() {
    child_->signal_group(SIGKILL);
    child_->reap();
  }
  void signal(int number) const { ::kill(child_->pid(), number); }
  int reap() { return WEXITSTATUS(child_->reap()); }
  void stop_reading() { out_.reset(); }

 private:
  Result<ChildProcess> child_ = Error(ErrorCode::internal, "not started");
  UniqueFd in_;
  UniqueFd out_;
  std::string text_;
  int id_ = 0;
};

// What speaks the protocol and judges files needs no sandbox.
class McpProtocol : public ::testing::Test {
 protected:
  Client client(std::vector<std::string> words = {}, const std::map<std::string, std::string>& more = {}) {
    words.insert(words.end(), {"--state", state_.path().string()});
    return {std::move(words), project_, more};
  }
  Project project_;
  const TempDir state_ = *TempDir::create();
};

TEST_F(McpProtocol, BeginsWithWhatItCan) {
  Client client = this->client();
  const json begun = client.answer("initialize", {{"protocolVersion", "2025-06-18"}})["result"];
  EXPECT_EQ(begun["protocolVersion"], "2025-06-18");
  EXPECT_EQ(begun["serverInfo"]["name"], "guard");
  EXPECT_EQ(
      client.answer("initialize", {{"protocolVersion", "1999-01-01"}})["result"]["protocolVersion"], "2025-11-25");
  EXPECT_EQ(client.answer("ping")["result"], json::object());
  EXPECT_EQ(client.answer("resources/list")["result"]["resources"], json::array());
  std::vector<std::string> names;
  const json tools = client.answer("tools/list")["result"]["tools"];
  for (const json& tool : tools) {
    names.push_back(tool["name"]);
    EXPECT_EQ(tool["inputSchema"]["type"], "object") << tool;
    EXPECT_TRUE(tool["annotations"].contains("readOnlyHint")) << tool;
  }
  EXPECT_THAT(names,
      ElementsAre("shell_execute", "python_execute", "sandbox_fs_list", "sandbox_fs_read", "sandbox_fs_write",
          "guard_check", "guard_run"));
  EXPECT_EQ(client.end(), 0);
}

TEST_F(McpProtocol, AnswersNonsenseAndGoesOn) {
  Client client = this->client();
  const auto code = [&](const std::string& line) {
    client.send(line);
    const json said = client.next();
    return said.is_object() && said.contains("error") ? said["error"].value("code", 0) : 0;
  };
  EXPECT_EQ(code("{"), -32700);
  EXPECT_EQ(code(R"({"jsonrpc":"2.0","id":1,"id":2,"method":"ping"})"), -32700);
  EXPECT_EQ(code(std::string(100, '[') + std::string(100, ']')), -32700);
  EXPECT_EQ(code("[]"), -32600);
  EXPECT_EQ(code(R"({"id":1,"method":"ping"})"), -32600);
  EXPECT_EQ(code(R"({"jsonrpc":"2.0","id":null,"method":"ping"})"), -32600);
  EXPECT_EQ(code(R"({"jsonrpc":"2.0","id":{},"method":"ping"})"), -32600);
  EXPECT_EQ(code(R"({"jsonrpc":"2.0","id":1})"), -32600);
  EXPECT_EQ(code(R"({"jsonrpc":"2.0","id":1,"method":"nope"})"), -32601);
  EXPECT_EQ(code(R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":[]})"), -32602);
  EXPECT_EQ(code(R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"nope"}})"), -32602);
  EXPECT_EQ(code(R"({"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"guard://runs/last"}})"), -32002);
  // What wants no answer gets none.
  client.send("\r");
  client.send(R"({"jsonrpc":"2.0","id":7,"result":{}})");
  client.send(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}})");
  client.send(R"({"jsonrpc":"2.0","method":"notifications/none","params":[1]})");
  EXPECT_EQ(client.answer("ping")["result"], json::object());
}

TEST_F(McpProtocol, SaysWhatIsWrongWithArguments) {
  Client client = this->client();
  const json wrong = client.call("shell_execute", {{"command", 1}});
  EXPECT_EQ(wrong["isError"], true);
  EXPECT_EQ(wrong["structuredContent"]["error"]["code"], "INPUT_INVALID");
  EXPECT_EQ(client.call("shell_execute", json::object())["isError"], true);
  EXPECT_EQ(client.call("shell_execute", {{"command", "a"}, {"tty", true}})["isError"], true);
  EXPECT_EQ(client.call("guard_check", {{"code", "a"}, {"paths", {"b"}}})["isError"], true);
}

TEST_F(McpProtocol, ChecksCodeAndFiles) {
  project_.write("sandbox/bad.test.ts", "import { readFileSync } from 'fs';\nreadFileSync('/var/run/docker.sock');\n");
  Client client = this->client();
  EXPECT_EQ(client.structured("guard_check", {{"code", "const a = 1;"}})["verdict"], "allowed");
  const json found = client.structured("guard_check", {{"paths", {"sandbox"}}});
  EXPECT_EQ(found["verdict"], "rejected");
  EXPECT_EQ(found["findings"][0]["path"], "sandbox/bad.test.ts") << found;
  EXPECT_EQ(client.structured("guard_check", {{"paths", {"none.ts"}}})["verdict"], "undecided");
}

// A client sees the project's files by what guard says of them, and no others.
TEST_F(McpProtocol, ChecksNothingOutsideOfTheProject) {
  std::filesystem::create_symlink("/etc", project_.path() / "out");
  Client client = this->client();
  for (const char* path : {"/etc/passwd", "../x.ts", "sandbox/../../x.ts", "out/passwd"}) {
    for (const char* tool : {"guard_check", "guard_run"}) {
      const json result = client.call(tool, {{"paths", {path}}});
      EXPECT_EQ(result["isError"], true) << path;
      EXPECT_THAT(result.dump(), HasSubstr("no path of the project")) << path;
    }
  }
  // No word of a client is an option.
  EXPECT_EQ(client.structured("guard_check", {{"code", "1"}, {"name", "--help"}})["verdict"], "allowed");
  EXPECT_THAT(client.structured("guard_check", {{"paths", {"--help"}}}).dump(), HasSubstr("undecided"));
}

TEST_F(McpProtocol, KnowsWhatInstallsPackages) {
  Client client = this->client();
  for (const char* command :
      {"pip install x", "cd a && npm i x", "A=1 bun add x", "true; pip3 install -r r.txt", "(pip install x)"}) {
    const json said = client.structured("shell_execute", {{"command", command}});
    EXPECT_EQ(said["error"]["code"], "DEPENDENCY_UNSATISFIED") << command;
  }
}

TEST_F(McpProtocol, EndsWhenAskedTo) {
  Client client = this->client();
  EXPECT_EQ(client.answer("ping")["result"], json::object());
  client.signal(SIGTERM);
  EXPECT_EQ(client.reap(), 0);
}

TEST_F(McpProtocol, WritesSettingsOnlyWhenToldTo) {
  project_.write(".mcp.json", R"({"mcpServers": {"other": {"command": "x"}}, "more": 1})");
  const auto install = [&](const std::string& client, std::vector<std::string> more = {}) {
    std::vector<std::string> words = {"mcp", "install", "--client", client};
    words.insert(words.end(), more.begin(), more.end());
    return project_.guard(words);
  };
  const auto text = [&](const char* file) { return read_file(project_.path() / file, 10'000).value_or(""); };
  const std::string before = text(".mcp.json");
  auto shown = install("claude");
  EXPECT_EQ(shown.exit_status, 1);
  EXPECT_THAT(shown.out, HasSubstr("\"guard\""));
  EXPECT_EQ(text(".mcp.json"), before);
  EXPECT_EQ(install("claude", {"--yes", "--image", "python"}).exit_status, 0);
  const json written = json::parse(text(".mcp.json"));
  EXPECT_EQ(written["mcpServers"]["guard"]["args"], json({"mcp", "--image", "python"}));
  EXPECT_EQ(written["mcpServers"]["other"]["command"], "x");
  EXPECT_EQ(written["more"], 1);
  EXPECT_EQ(install("claude", {"--image", "python"}).exit_status, 0) << "nothing to do";
  for (const auto& [client, file, key] :
      {std::tuple("cursor", ".cursor/mcp.json", "mcpServers"), std::tuple("vscode", ".vscode/mcp.json", "servers"),
          std::tuple("gemini", ".gemini/settings.json", "mcpServers")}) {
    EXPECT_EQ(install(client, {"--yes"}).exit_status, 0) << client;
    EXPECT_EQ(json::parse(text(file))[key]["guard"]["command"], "guard");
  }
  for (const char* broken : {"{", "[]", R"({"mcpServers": 1})", R"({"a": 1, "a": 2})"}) {
    project_.write(".mcp.json", broken);
    EXPECT_EQ(install("claude", {"--yes"}).exit_status, 2) << broken;
    EXPECT_EQ(text(".mcp.json"), broken);
  }
  EXPECT_EQ(project_.guard({"mcp", "install"}).exit_status, 64);
}

TEST_F(McpProtocol, KeepsWhatIsAPersonsOwnInSettings) {
  const std::string key = "sk-ant-api03-" + std::string(40, 'Q') + "x7Kd93mZp1";
  project_.write(".mcp.json", R"({"mcpServers":{"other":{"env":{"KEY":")" + key + R"("}}}})");
  ASSERT_EQ(::chmod((project_.path() / ".mcp.json").c_str(), 0600), 0);
  const auto install = [&](std::vector<std::string> more) {
    std::vector<std::string> words = {"mcp", "install", "--yes", "--client"};
    words.insert(words.end(), more.begin(), more.end());
    return project_.guard(words);
  };
  const auto shown = install({"claude", "--mask-env", "FOO", "--state", "s"});
  EXPECT_EQ(shown.exit_status, 0) << shown.err;
  EXPECT_THAT(shown.out, Not(HasSubstr(key)));
  struct stat found {};
  ASSERT_EQ(::stat((project_.path() / ".mcp.json").c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777, 0600U);
  const std::string text = *read_file(project_.path() / ".mcp.json", 10'000);
  EXPECT_THAT(text, HasSubstr(key));
  EXPECT_THAT(text, HasSubstr("--mask-env"));
  EXPECT_THAT(text, HasSubstr((std::filesystem::canonical(project_.path()) / "s").native()));
  const TempDir elsewhere = *TempDir::create();
  std::filesystem::create_directory_symlink(elsewhere.path(), project_.path() / ".cursor");
  EXPECT_EQ(install({"cursor"}).exit_status, 2);
  EXPECT_TRUE(std::filesystem::is_empty(elsewhere.path()));
}

class Mcp : public McpProtocol, public ::testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    GUARD_NEEDS(GetParam() == std::string("docker") ? Needs::docker : Needs::namespace_sandbox);
    project_.build_image(GetParam());
    ASSERT_EQ(::chmod(state_.path().c_str(), 0711), 0);
  }
  Client client(std::vector<std::string> words = {}, const std::map<std::string, std::string>& more = {}) {
    words.insert(words.end(), {"--backend", GetParam()});
    return McpProtocol::client(std::move(words), more);
  }
  static json runs(const std::string& script) { return {{"command", "bun -e '" + script + "'"}}; }
};
INSTANTIATE_TEST_SUITE_P(In, Mcp, ::testing::Values("namespace", "docker"));

TEST_P(Mcp, KeepsFilesForTheSession) {
  Client client = this->client();
  const json written = client.structured("sandbox_fs_write", {{"path", "a/b.txt"}, {"content", "h\u00e9llo\n"}});
  EXPECT_EQ(written["bytes"], 7) << written;
  EXPECT_EQ(client.structured("sandbox_fs_read", {{"path", "/workspace/a/b.txt"}})["content"], "h\u00e9llo\n");
  const json part = client.structured("sandbox_fs_read", {{"path", "a/b.txt"}, {"bytes_max", 2}});
  EXPECT_EQ(part["content"], "h") << "half a character stays for the next part";
  EXPECT_EQ(part["next_offset"], 1);
  EXPECT_EQ(client.structured("sandbox_fs_read", {{"path", "a/b.txt"}, {"offset", 1}})["content"], "\u00e9llo\n");
  const json listed = client.structured("sandbox_fs_list", {{"depth", 2}});
  EXPECT_EQ(listed["entries"][1]["path"], "a/b.txt") << listed;
  EXPECT_EQ(client.structured("sandbox_fs_read", {{"path", "none"}})["error"]["code"], "FILE_NOT_FOUND");
  EXPECT_EQ(
      client.structured("sandbox_fs_write", {{"path", "c"}, {"content", "AP8="}, {"encoding", "base64"}})["bytes"], 2);
  EXPECT_EQ(client.structured("sandbox_fs_read", {{"path", "c"}})["encoding"], "base64");
  const json named = client.structured("sandbox_fs_list", {{"session", "other"}});
  EXPECT_EQ(named["entries"], json::array());
  EXPECT_EQ(named["session"], "mcp/other");
  EXPECT_EQ(client.call("sandbox_fs_list", {{"session", "../a"}})["isError"], true);
  EXPECT_EQ(client.call("sandbox_fs_list", {{"session", "a/b"}})["isError"], true) << "of another tenant";
}

TEST_P(Mcp, RunsCommandsAndSaysHowTheyEnded) {
  Client client = this->client();
  const json ran = client.structured("shell_execute", runs("console.log(1); console.error(2); process.exit(3)"));
  EXPECT_EQ(ran["stdout"], "1\n") << ran;
  EXPECT_EQ(ran["stderr"], "2\n");
  EXPECT_EQ(ran["exit_code"], 3);
  json slow = runs("await Bun.sleep(60000)");
  slow["timeout_ms"] = 300;
  const json late = client.call("shell_execute", slow);
  EXPECT_EQ(late["isError"], true);
  EXPECT_EQ(late["structuredContent"]["error"], json({{"code", "EXECUTION_TIMEOUT"}, {"timeout", 300}})) << late;
  const json flood = client.structured("shell_execute",
      runs("const a = Buffer.alloc(1 << 20, 120); for (let i = 0; i < 100; ++i) require(\"fs\").writeSync(1, a)"));
  EXPECT_EQ(flood["stdout"].get<std::string>().size(), 81'920U);
  EXPECT_GT(flood["dropped_bytes"].get<std::uint64_t>(), 50u << 20);
}

TEST_P(Mcp, GivesVariablesAndAFolder) {
  Client client = this->client();
  json call = runs("console.log(process.env.A, process.cwd())");
  call["env"] = {{"A", "b"}};
  call["cwd"] = "/tmp";
  EXPECT_EQ(client.structured("shell_execute", call)["stdout"], "b /tmp\n");
  const json named = client.structured("sandbox_fs_list", {{"session", "mcp/again"}});
  EXPECT_EQ(named["session"], "mcp/again") << "as an answer names it";
}

TEST_P(Mcp, MasksSecretsWhereverTheyComeOut) {
  const std::string secret = "tok-" + std::string(20, 'q') + "-known";
  Client client = this->client({}, {{"MY_TOKEN", secret}});
  const std::string key = "AKIA" + std::string("QYLPMN5HHHFPZAM2");
  const json ran = client.call("shell_execute", runs("console.log(\"" + key + " " + secret + "\")"));
  EXPECT_THAT(ran.dump(), Not(HasSubstr(key)));
  EXPECT_THAT(ran.dump(), Not(HasSubstr(secret)));
  EXPECT_FALSE(ran["structuredContent"]["redactions"].empty()) << ran;
  client.structured("sandbox_fs_write", {{"path", "k"}, {"content", "key " + key + " end\n"}});
  // Neither as a whole nor piece by piece.
  std::string pieces;
  for (std::uint64_t at = 0;; ++at) {
    const json part = client.structured("sandbox_fs_read", {{"path", "k"}, {"offset", at}, {"bytes_max", 1}});
    pieces += part["content"].get<std::string>();
    if (!part["more"].get<bool>()) break;
  }
  EXPECT_EQ(pieces, "key [REDACTED:aws] end\n");
  client.structured("sandbox_fs_write", {{"path", "k2"}, {"content", "\xc3\xbf key " + key + "\n"}});
  EXPECT_THAT(client.call("sandbox_fs_read", {{"path", "k2"}}).dump(), Not(HasSubstr(key)));
  // Names of files, errors, and what tests print.
  const json named = client.call("sandbox_fs_write", {{"path", secret}, {"content", ""}});
  EXPECT_THAT(named.dump(), Not(HasSubstr(secret)));
  EXPECT_THAT(client.call("sandbox_fs_list", json::object()).dump(), Not(HasSubstr(secret)));
  EXPECT_THAT(client.call("sandbox_fs_read", {{"path", "x/" + secret}}).dump(), Not(HasSubstr(secret)));
  EXPECT_THAT(client.call("guard_check", {{"paths", {"/" + secret}}}).dump(), Not(HasSubstr(secret)));
  project_.write("sandbox/s.test.ts",
      "import { expect, test } from 'bun:test';\ntest('t', () => { expect('" + secret + "').toBe('1'); });\n");
  EXPECT_THAT(client.call("guard_run", {{"paths", {"sandbox/s.test.ts"}}}).dump(), Not(HasSubstr(secret)));
  EXPECT_THAT(client.answer("resources/read", {{"uri", "guard://runs/last"}}).dump(), Not(HasSubstr(secret)));
}

TEST_P(Mcp, CancelsWhatHasHardlyBegun) {
  Client client = this->client();
  client.structured("sandbox_fs_list", json::object());
  for (int id = 500; id < 505; ++id) {
    const json call = {{"jsonrpc", "2.0"}, {"id", id}, {"method", "tools/call"},
        {"params",
            {{"name", "shell_execute"}, {"arguments", runs("await Bun.sleep(700); await Bun.write(\"late\", \"\")")}}}};
    client.send(call.dump() + "\n" +
        json({{"jsonrpc", "2.0"}, {"method", "notifications/cancelled"}, {"params", {{"requestId", id}}}}).dump());
  }
  std::this_thread::sleep_for(milliseconds(1500));
  EXPECT_EQ(client.structured("sandbox_fs_list", json::object())["entries"], json::array());
}

TEST_P(Mcp, EndsWhatIsCancelled) {
  Client client = this->client();
  client.structured("sandbox_fs_list", json::object());
  const json parameters = {{"name", "shell_execute"}, {"_meta", {{"progressToken", "p"}}},
      {"arguments",
          runs("await Bun.write(\"begun\", \"\"); for (;;) { await Bun.write(\"now\", String(Date.now())); await "
               "Bun.sleep(20) }")}};
  client.ask("slow", "tools/call", parameters);
  EXPECT_EQ(client.next()["params"]["progressToken"], "p") << "it is told that the call goes on";
  client.ask("slow", "tools/call", parameters);
  EXPECT_EQ(client.next()["error"]["code"], -32600) << "one call of an id";
  client.send(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"slow"}})");
  std::this_thread::sleep_for(milliseconds(1000));
  const auto now = [&] { return client.structured("sandbox_fs_read", {{"path", "now"}})["content"]; };
  const json before = now();
  ASSERT_TRUE(before.is_string());
  std::this_thread::sleep_for(milliseconds(200));
  EXPECT_EQ(now(), before);
}

TEST_P(Mcp, SharesSessionsBetweenClients) {
  Client one = this->client();
  one.structured("sandbox_fs_write", {{"path", "a"}, {"content", "1"}, {"session", "both"}});
  Client other = this->client();
  EXPECT_EQ(other.structured("sandbox_fs_read", {{"path", "a"}, {"session", "both"}})["content"], "1");
  EXPECT_EQ(other.structured("sandbox_fs_read", {{"path", "a"}})["error"]["code"], "FILE_NOT_FOUND");
  // The first one had the sandboxes. What it dies of does not matter.
  one.kill();
  EXPECT_EQ(other.structured("sandbox_fs_read", {{"path", "a"}, {"session", "both"}})["content"], "1");
  EXPECT_EQ(other.end(), 0);
}

TEST_P(Mcp, RunsTests) {
  project_.write("sandbox/a.test.ts",
      "import { expect, test } from 'bun:test';\ntest('one', () => { expect(1 + 1).toBe(2); });\n");
  Client client = this->client();
  const json ran = client.structured("guard_run", {{"paths", {"sandbox/a.test.ts"}}});
  EXPECT_EQ(ran["verdict"], "allowed") << ran;
  const json resource = client.answer("resources/read", {{"uri", "guard://runs/last"}})["result"]["contents"][0];
  EXPECT_EQ(json::parse(resource["text"].get<std::string>())["verdict"], "allowed");
  EXPECT_EQ(client.answer("resources/list")["result"]["resources"].size(), 1U);
}

TEST_P(Mcp, TracesStepsAndFiles) {
  const std::string trace = state_.path() / "trace.jsonl";
  const std::string key = "AKIA" + std::string("QYLPMN5HHHFPZAM2");
  {
    Client client = this->client({"--trace", trace});
    client.structured("sandbox_fs_write", {{"path", "in.txt"}, {"content", "1"}, {"session", "traced"}});
    json call = runs("await Bun.write(\"out/a.txt\", \"123\"); console.log(\"" + key + "\"); process.exit(4)");
    call["session"] = "traced";
    EXPECT_EQ(client.structured("shell_execute", call)["exit_code"], 4);
    call = runs("1");
    call["session"] = "traced";
    client.structured("shell_execute", call);
    client.structured("sandbox_fs_list", {{"session", "traced"}});
  }
  std::vector<std::string> told;
  std::istringstream lines(read_file(trace, 1u << 20).value_or(""));
  for (std::string line; std::getline(lines, line);) {
    const json event = json::parse(line, nullptr, false);
    EXPECT_EQ(event["session"], "mcp/traced") << line;
    EXPECT_THAT(line, Not(HasSubstr(key)));
    told.push_back(event["event"] == "ARTIFACT_GENERATED"
            ? event["path"].get<std::string>() + " " + event["size_bytes"].dump()
            : "step " + event["step"].dump() + " " + event["exit_code"].dump());
  }
  EXPECT_THAT(told, ElementsAre("step 1 4", "/workspace/out/a.txt 3", "step 2 0"));
}

// Whoever has the sessions writes the trace of all their clients.
TEST_P(Mcp, WritesNoTraceBesideThatOfAnother) {
  const std::string trace = state_.path() / "trace.jsonl";
  Client first = this->client({"--trace", trace});
  EXPECT_EQ(first.structured("shell_execute", runs("1"))["exit_code"], 0);
  Client same = this->client({"--trace", trace});
  EXPECT_EQ(same.structured("shell_execute", runs("2"))["exit_code"], 0);
  EXPECT_THAT(read_file(trace, 1u << 20).value_or(""), HasSubstr("bun -e '2'"));
  Client other = this->client({"--trace", trace + ".other"});
  const json refused = other.structured("shell_execute", runs("3"));
  EXPECT_EQ(refused["error"]["code"], "USAGE") << refused;
  EXPECT_THAT(refused.dump(), HasSubstr(trace));
}

TEST_P(Mcp, AnswersManyAtATimeAndSaysWhenItIsTooMuch) {
  Client client = this->client();
  client.structured("sandbox_fs_list", json::object());
  for (int id = 100; id < 117; ++id)
    client.ask(id, "tools/call", {{"name", "shell_execute"}, {"arguments", runs("await Bun.sleep(1000)")}});
  int done = 0;
  int refused = 0;
  for (int i = 0; i < 17; ++i) {
    const json said = client.next();
    ++(said.contains("error") ? refused : done);
  }
  EXPECT_EQ(done, 16);
  EXPECT_EQ(refused, 1);
}

// Nothing waits for a client that has gone, or does not read.
TEST_P(Mcp, EndsWithItsClient) {
  Client client = this->client();
  client.structured("sandbox_fs_list", json::object());
  client.ask(1000, "tools/call", {{"name", "shell_execute"}, {"arguments", runs("await Bun.sleep(60000)")}});
  std::this_thread::sleep_for(milliseconds(300));
  EXPECT_EQ(client.end(), 0);
  Client deaf = this->client();
  deaf.structured("sandbox_fs_list", json::object());
  deaf.stop_reading();
  deaf.ask(1000, "ping");
  deaf.ask(1001, "ping");
  EXPECT_EQ(deaf.reap(), 0);
  for (const bool by_signal : {true, false}) {
    Client slow = this->client();
    for (int id = 0; id < 3; ++id) {
      slow.ask(id, "tools/call", {{"name", "shell_execute"}, {"arguments", runs("console.log(\"x\".repeat(80000))")}});
    }
    std::this_thread::sleep_for(milliseconds(1000));
    by_signal ? slow.signal(SIGTERM) : slow.close_input();
    EXPECT_EQ(slow.reap(), 0);
  }
}

// What a client leaves behind that was killed does not stay open.
TEST_P(Mcp, GivesItsOwnSessionALease) {
  Client client = this->client();
  client.structured("sandbox_fs_list", {{"session", "kept"}});
  client.structured("sandbox_fs_list", json::object());
  const auto leases = [&] {
    const auto listed = project_.guard({"session", "list", "--state", state_.path(), "--format", "json"});
    std::map<std::string, bool> found;
    const json rows = listed.document()["sessions"];
    for (const json& row : rows)
      found[row["session"].get<std::string>() == "mcp/kept" ? "kept" : "own"] = row.value("lease_ms", 0ll) > 0;
    return found;
  }();
  EXPECT_EQ(leases, (std::map<std::string, bool>{{"kept", false}, {"own", true}}));
}

}  // namespace
}  // namespace guard::testing
