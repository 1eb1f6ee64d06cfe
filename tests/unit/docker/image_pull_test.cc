#include "docker/image_pull.h"

#include <gtest/gtest.h>

#include "common/text/base64.h"
#include "docker/json_fields.h"

namespace guard::docker {
namespace {

const std::string kDigest = "sha256:" + std::string(64, 'a');

TEST(ImageName, IsCutWhereEnginesCutIt) {
  const auto whole = parse_image_name("127.0.0.1:5000/tools/runner:1.2@" + kDigest);
  ASSERT_TRUE(whole) << whole.error().to_string();
  EXPECT_EQ(whole->repository, "127.0.0.1:5000/tools/runner");
  EXPECT_EQ(whole->tag, "1.2");
  EXPECT_EQ(whole->digest, kDigest);
  EXPECT_EQ(whole->registry(), "127.0.0.1:5000");
  EXPECT_EQ(whole->full_repository(), "127.0.0.1:5000/tools/runner");

  // The colon of a port is none of a tag.
  const auto port = parse_image_name("localhost:5000/runner");
  ASSERT_TRUE(port);
  EXPECT_EQ(port->tag, "");
  EXPECT_EQ(port->registry(), "localhost:5000");
}

TEST(ImageName, KnowsWhatIsMeantWhereNoRegistryIsNamed) {
  const std::pair<const char*, const char*> names[] = {{"alpine:3", "docker.io/library/alpine"},
      {"tools/runner:3", "docker.io/tools/runner"}, {"docker.io/alpine:3", "docker.io/library/alpine"},
      {"index.docker.io/library/alpine:3", "docker.io/library/alpine"},
      {"quay.example/alpine:3", "quay.example/alpine"}};
  for (const auto& [name, full] : names) {
    const auto parsed = parse_image_name(name);
    ASSERT_TRUE(parsed) << name;
    EXPECT_EQ(parsed->full_repository(), full);
  }
}

TEST(ImageName, RefusesWhatNamesNothingInARegistry) {
  const std::string names[] = {"", kDigest, std::string(64, 'a'), "runner:", "runner:-x",
      "runner:" + std::string(129, 'x'), "runner@sha256:abc", "runner@sha512:" + std::string(128, 'a'),
      "runner@sha256:" + std::string(64, 'A'), "/runner:1", "a//b:1", "a/:1", "run ner:1", "runner:1\n",
      "r\xc3\xbcnner:1", "runner?tag=x:1", std::string(600, 'a')};
  for (const std::string& name : names) {
    const auto parsed = parse_image_name(name);
    ASSERT_FALSE(parsed) << name;
    EXPECT_EQ(parsed.error().code(), ErrorCode::image_pull_failed);
  }
}

nlohmann::json sent(const RegistryAuth& auth) {
  std::string text = auth.header;
  for (char& c : text) c = c == '-' ? '+' : c == '_' ? '/' : c;
  return parse_answer(base64_decode(text).value_or(""));
}

// bmFtZTpwYXNzOndvcmQ= is name:pass:word.
TEST(RegistryAuth, IsReadFromDockersOwnFile) {
  for (const char* key :
      {"registry.example:5000", "https://registry.example:5000", "http://registry.example:5000/v1/"}) {
    const auto auth = find_registry_auth(
        std::string(R"({"auths":{"other.example":{"auth":"eDp5"},")") + key + R"(":{"auth":"bmFtZTpwYXNzOndvcmQ="}}})",
        "registry.example:5000");
    ASSERT_TRUE(auth) << auth.error().to_string();
    EXPECT_EQ(sent(*auth)["username"], "name");
    EXPECT_EQ(sent(*auth)["password"], "pass:word");
    EXPECT_EQ(sent(*auth)["serveraddress"], "registry.example:5000");
  }
  const auto hub = find_registry_auth(R"({"auths":{"https://index.docker.io/v1/":{"auth":"eDp5"}}})", "docker.io");
  ASSERT_TRUE(hub);
  EXPECT_EQ(sent(*hub)["password"], "y");
  const auto token = find_registry_auth(R"({"auths":{"r.example":{"auth":"eDo=","identitytoken":"t"}}})", "r.example");
  ASSERT_TRUE(token);
  EXPECT_EQ(sent(*token)["identitytoken"], "t");
  EXPECT_FALSE(sent(*token).contains("password"));
}

TEST(RegistryAuth, AsksAsNobodyWhereNothingIsSaidOfTheRegistry) {
  for (const char* config : {"{}", R"({"auths":{}})", R"({"auths":{"other.example":{"auth":"eDp5"}}})",
           R"({"auths":null})", R"({"auths":{"r.example.evil":{"auth":"eDp5"},"r":{"auth":"eDp5"}}})"}) {
    const auto auth = find_registry_auth(config, "r.example");
    ASSERT_TRUE(auth) << config;
    EXPECT_EQ(auth->header, "") << config;
    EXPECT_EQ(auth->helper, "") << config;
  }
}

TEST(RegistryAuth, NamesTheHelperThatIsNotRun) {
  const auto store = find_registry_auth(R"({"credsStore":"secretservice","auths":{"r.example":{}}})", "r.example");
  ASSERT_TRUE(store);
  EXPECT_EQ(store->header, "");
  EXPECT_EQ(store->helper, "secretservice");
  const auto own = find_registry_auth(R"({"credsStore":"a","credHelpers":{"r.example":"b"}})", "r.example");
  ASSERT_TRUE(own);
  EXPECT_EQ(own->helper, "b");
  // What stands in the file itself counts.
  const auto both = find_registry_auth(R"({"credsStore":"a","auths":{"r.example":{"auth":"eDp5"}}})", "r.example");
  ASSERT_TRUE(both);
  EXPECT_EQ(both->helper, "");
  EXPECT_NE(both->header, "");
}

TEST(RegistryAuth, RefusesAFileThatMakesNoSense) {
  for (const char* config :
      {"", "[]", "{", R"({"auths":{"r.example":{"auth":"%%%"}}})", R"({"auths":{"r.example":{"auth":"eA=="}}})"}) {
    const auto auth = find_registry_auth(config, "r.example");
    ASSERT_FALSE(auth) << config;
    EXPECT_EQ(auth.error().code(), ErrorCode::image_pull_failed);
  }
}

constexpr std::string_view kLines =
    "{\"status\":\"Pulling from tools/runner\",\"id\":\"1.2\"}\r\n"
    "{\"status\":\"Downloading\",\"progressDetail\":{\"current\":500000,\"total\":2000000},\"id\":\"abc\"}\r\n"
    "{\"status\":\"Downloading\",\"progressDetail\":{\"current\":1000000,\"total\":2000000},\"id\":\"def\"}\r\n"
    "{\"status\":\"Extracting\",\"progressDetail\":{\"current\":7,\"total\":8},\"id\":\"abc\"}\r\n"
    "\r\n{\"status\":\"Status: Downloaded newer image\"}\r\n";

// However it is cut.
TEST(PullLines, AddsUpWhatIsDownloaded) {
  for (std::size_t step = 1; step <= kLines.size(); ++step) {
    std::vector<std::string> told;
    PullLines lines([&](const std::string& words) { told.push_back(words); });
    for (std::size_t at = 0; at < kLines.size(); at += step) ASSERT_TRUE(lines.push(kLines.substr(at, step)));
    ASSERT_TRUE(lines.finish());
    EXPECT_EQ(told, (std::vector<std::string>{"0.5 of 2.0 MB", "1.5 of 4.0 MB"}));
  }
}

ErrorCode refusal(std::string_view text, std::string* words = nullptr) {
  PullLines lines(nullptr);
  auto done = lines.push(text);
  if (done) done = lines.finish();
  EXPECT_FALSE(done) << text;
  if (done) return ErrorCode::internal;
  if (words != nullptr) *words = done.error().details().at("stderr");
  return done.error().code();
}

TEST(PullLines, AnErrorLineIsAnErrorWhateverStandsAroundIt) {
  std::string words;
  EXPECT_EQ(refusal(std::string(kLines) + R"({"errorDetail":{"message":"unexpected EOF"},"error":"unexpected EOF"})" +
                    "\r\n" + std::string(kLines),
                &words),
      ErrorCode::image_pull_failed);
  EXPECT_EQ(words, "unexpected EOF");
  EXPECT_EQ(refusal("{\"error\":\"red \\u001b[31m\\u202e\"}\n", &words), ErrorCode::image_pull_failed);
  EXPECT_EQ(words, "red \\x1b[31m\\u{202e}");
  for (const char* line : {"{\"error\":7}\n", "{\"errorDetail\":{}}\n", "{\"error\":\"no line end\"}"}) {
    EXPECT_EQ(refusal(line), ErrorCode::image_pull_failed) << line;
  }
  EXPECT_EQ(refusal("{\"error\":\"" + std::string(60'000, 'x') + "\"}\n", &words), ErrorCode::image_pull_failed);
  EXPECT_LE(words.size(), 2048u);
}

TEST(PullLines, NonsenseIsNoProgress) {
  for (const std::string& text :
      {std::string("plain text\n"), std::string("[]\n"), std::string("{\"status\":\"Pul"), std::string(100'000, 'x')}) {
    EXPECT_EQ(refusal(text), ErrorCode::protocol_error) << text.substr(0, 40);
  }
}

}  // namespace
}  // namespace guard::docker
