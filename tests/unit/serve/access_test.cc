#include "serve/access.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/file_io.h"

namespace guard::serve {
namespace {

namespace fs = std::filesystem;

class TokenFile : public ::testing::Test {
 protected:
  Result<Token> written(std::string_view text, mode_t mode) {
    EXPECT_TRUE(write_file_atomically(path_, text, mode));
    return Token::of_file(path_);
  }
  TempDir folder_ = *TempDir::create();
  fs::path path_ = folder_.path() / "token";
};

TEST_F(TokenFile, IsMadeForItsOwnerAlone) {
  const auto made = Token::of_file(path_);
  ASSERT_TRUE(made) << made.error().to_string();
  struct stat found {};
  ASSERT_EQ(::stat(path_.c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 07777, 0600u);
  std::string text = *read_file(path_, 1000);
  EXPECT_EQ(text.size(), 65u);
  text.pop_back();
  EXPECT_TRUE(made->is(text));
  const auto again = Token::of_file(path_);
  EXPECT_TRUE(again->is(text)) << "it stays the same";
  EXPECT_FALSE(again->is(text.substr(1)));
  EXPECT_FALSE(again->is(""));
  text.back() = text.back() == '0' ? '1' : '0';
  EXPECT_FALSE(again->is(text));
  fs::remove(path_);
  EXPECT_FALSE(Token::of_file(path_)->is(text)) << "another one each time";
}

TEST_F(TokenFile, IsRefusedWhereOthersMayKnowIt) {
  const std::string good(64, 'a');
  EXPECT_TRUE(written(good + "\n", 0600));
  EXPECT_TRUE(written(good, 0400));
  for (const mode_t mode : {0640, 0604, 0620, 0700, 0666}) EXPECT_FALSE(written(good, mode)) << mode;
  for (const std::string& bad : {std::string(), std::string("\n"), std::string(31, 'a'), std::string(40, ' '),
           good + " " + good, good + "\n" + good})
    EXPECT_FALSE(written(bad, 0600)) << bad;
  ASSERT_TRUE(written(good, 0600));
  fs::create_symlink(path_, folder_.path() / "link");
  EXPECT_FALSE(Token::of_file(folder_.path() / "link"));
  EXPECT_FALSE(Token::of_file(folder_.path()));
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  ASSERT_EQ(::chown(path_.c_str(), 1234, 0), 0);
  EXPECT_FALSE(Token::of_file(path_)) << "it is somebody else's";
}

TEST(Loopback, IsAllThatIsListenedOn) {
  for (const char* address : {"127.0.0.1:0", "127.1.2.3:0", "[::1]:0"}) {
    const auto listener = listen_on_loopback(address);
    if (!listener && std::string_view(address) == "[::1]:0") continue;  // a machine without IPv6
    ASSERT_TRUE(listener) << listener.error().to_string();
    EXPECT_NE(listener->address, address);
  }
  for (const char* address :
      {"0.0.0.0:0", "10.0.0.1:0", "[::]:0", "[::ffff:127.0.0.1]:0", "localhost:0", ":0", "127.0.0.1",
          "127.0.0.1:", "127.0.0.1:x", "127.0.0.1:65536", "127.0.0.1:-1", "127.0.0.1:1:2", "", "0", "127.1:0"}) {
    const auto listener = listen_on_loopback(address);
    ASSERT_FALSE(listener) << address;
    EXPECT_EQ(listener.error().code(), ErrorCode::input_invalid) << address;
  }
}

TEST_F(TokenFile, LetsProgramsInAndNoWebPages) {
  const std::string text(64, 'a');
  const auto token = written(text, 0600);
  ASSERT_TRUE(token);
  const std::string bearer = "Bearer " + text;
  for (const char* host : {"127.0.0.1:80", "127.0.0.1", "localhost:80", "localhost", "[::1]:80", "[::1]"})
    EXPECT_TRUE(client_with(*token, {host, "", "", bearer})) << host;
  for (const char* scheme : {"bearer ", "BEARER "})
    EXPECT_TRUE(client_with(*token, {"localhost", "", "", scheme + text}));
  for (const std::string& key : {text, "e2b_" + text}) EXPECT_TRUE(client_with(*token, {"localhost", "", "", "", key}));
  for (const std::string& key : {"e2b_" + text + "a", "e2b_e2b_" + text, std::string("e2b_")})
    EXPECT_FALSE(client_with(*token, {"localhost", "", "", "", key})) << key;
  for (const char* host :
      {"", "evil.example:80", "localhost.evil.example", "127.0.0.1.evil.example", "10.0.0.1", "[::2]:80"})
    EXPECT_FALSE(client_with(*token, {host, "", "", bearer})) << host;
  EXPECT_FALSE(client_with(*token, {"localhost", "null", "", bearer}));
  EXPECT_FALSE(client_with(*token, {"localhost", "http://localhost", "", bearer}));
  EXPECT_FALSE(client_with(*token, {"localhost", "", "same-origin", bearer}));
  for (const std::string& said :
      {std::string(), std::string("Bearer "), text, "Basic " + text, bearer + "a", bearer.substr(0, 70)})
    EXPECT_TRUE(client_with(*token, {"localhost", "", "", said}).error().details().contains("access")) << said;
}

}  // namespace
}  // namespace guard::serve
