#include "egress/client_hello.h"

#include <gtest/gtest.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <memory>

namespace guard {
namespace {

using State = ClientHello::State;

// What a client of OpenSSL sends first.
std::string hello_of(const char* server_name, int version_max = 0, const std::string& alpn = {}) {
  const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context(SSL_CTX_new(TLS_client_method()), SSL_CTX_free);
  if (version_max != 0) SSL_CTX_set_max_proto_version(context.get(), version_max);
  const std::unique_ptr<SSL, decltype(&SSL_free)> client(SSL_new(context.get()), SSL_free);
  if (!alpn.empty())
    SSL_set_alpn_protos(
        client.get(), reinterpret_cast<const unsigned char*>(alpn.data()), static_cast<unsigned>(alpn.size()));
  BIO* out = BIO_new(BIO_s_mem());
  SSL_set_bio(client.get(), BIO_new(BIO_s_mem()), out);
  if (server_name != nullptr) SSL_set_tlsext_host_name(client.get(), server_name);
  SSL_connect(client.get());
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(out, &bytes);
  return std::string(bytes, static_cast<std::size_t>(size));
}

std::string number(std::size_t value, int width) {
  std::string out;
  for (int i = width - 1; i >= 0; --i) out += static_cast<char>(value >> (8 * i));
  return out;
}

std::string with_length(const std::string& bytes, int width) { return number(bytes.size(), width) + bytes; }

std::string extension(unsigned type, const std::string& bytes) { return number(type, 2) + with_length(bytes, 2); }

std::string name_extension(const std::string& name) {
  return extension(0, with_length(std::string(1, '\0') + with_length(name, 2), 2));
}

std::string message(const std::string& extensions, const std::string& suites = "\x13\x01", bool has_extensions = true) {
  const std::string body = "\x03\x03" + std::string(32, 'r') + std::string(1, '\0') + with_length(suites, 2) +
      std::string("\x01\0", 2) + (has_extensions ? with_length(extensions, 2) : "");
  return "\x01" + with_length(body, 3);
}

std::string records(const std::string& bytes, std::size_t piece = 16'384) {
  std::string out;
  for (std::size_t at = 0; at < bytes.size(); at += piece)
    out += "\x16\x03\x01" + with_length(bytes.substr(at, piece), 2);
  return out;
}

TEST(ClientHello, ReadsWhatOpenSslSends) {
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    const ClientHello hello = read_client_hello(hello_of("api.example.com", version, "\x02h2"));
    ASSERT_EQ(hello.state, State::complete);
    EXPECT_TRUE(hello.has_server_name);
    EXPECT_EQ(hello.server_name, "api.example.com");
    EXPECT_FALSE(hello.encrypted);
  }
  const ClientHello nameless = read_client_hello(hello_of(nullptr));
  ASSERT_EQ(nameless.state, State::complete);
  EXPECT_FALSE(nameless.has_server_name);
}

TEST(ClientHello, WaitsForEachByte) {
  const std::string bytes = hello_of("api.example.com");
  for (std::size_t size = 0; size < bytes.size(); ++size)
    ASSERT_EQ(read_client_hello(std::span(bytes).first(size)).state, State::need_more) << size;
}

// However the message is cut into records, and these into reads, it is the same.
TEST(ClientHello, ReadsSeveralRecords) {
  const std::string whole = message(name_extension("api.example.com") + extension(16, std::string(300, 'a')));
  for (const std::size_t piece : {1ul, 2ul, 3ul, 5ul, 64ul, 200ul}) {
    const std::string bytes = records(whole, piece);
    for (std::size_t size = 0; size < bytes.size(); ++size)
      ASSERT_EQ(read_client_hello(std::span(bytes).first(size)).state, State::need_more) << piece << " " << size;
    const ClientHello hello = read_client_hello(bytes);
    ASSERT_EQ(hello.state, State::complete) << piece;
    EXPECT_EQ(hello.server_name, "api.example.com");
  }
}

// Bytes that come one by one must not be read from the start each time.
TEST(ClientHello, TellsHowManyBytesItNeeds) {
  for (const std::size_t piece : {1ul, 200ul, 16'384ul}) {
    const std::string bytes = records(message(extension(16, std::string(2'500, 'a'))), piece);
    int looks = 1;
    std::size_t size = 0;
    ClientHello hello = read_client_hello({});
    for (; hello.state == State::need_more; ++looks) {
      ASSERT_GT(hello.need, size);
      ASSERT_LE(hello.need, bytes.size());
      size = hello.need;
      hello = read_client_hello(std::span(bytes).first(size));
    }
    EXPECT_EQ(hello.state, State::complete);
    EXPECT_EQ(size, bytes.size());
    EXPECT_LT(looks, 100) << piece;
  }
}

TEST(ClientHello, IgnoresWhatFollowsInAnotherRecord) {
  const std::string early = std::string("\x17\x03\x03\0\x02", 5) + "xx";
  EXPECT_EQ(read_client_hello(records(message(name_extension("a.test"))) + early).state, State::complete);
}

TEST(ClientHello, TellsWhatIsNotTls) {
  for (const std::string bytes : {"GET / HTTP/1.1\r\n", "SSH-2.0-x", "\x16\x02", "\x80\x2e\x01", "\x17\x03\x03", " "})
    EXPECT_EQ(read_client_hello(bytes).state, State::not_tls) << bytes;
  EXPECT_EQ(read_client_hello(std::string("\x16", 1)).state, State::need_more);
}

TEST(ClientHello, SeesEncryptedHellos) {
  for (const unsigned type : {0xfe0du, 0xfe09u, 0xff02u, 0xffceu}) {
    const ClientHello hello = read_client_hello(records(message(name_extension("a.test") + extension(type, "x"))));
    ASSERT_EQ(hello.state, State::complete);
    EXPECT_TRUE(hello.encrypted) << type;
  }
}

TEST(ClientHello, RefusesWhatCanBeReadInTwoWays) {
  const std::string name = name_extension("a.test");
  const std::string zero(1, '\0');
  const std::vector<std::pair<const char*, std::string>> rows = {
      {"two names of servers", message(name + name_extension("b.test"))},
      {"two names in one list",
          message(extension(0, with_length(zero + with_length("a.test", 2) + zero + with_length("b.test", 2), 2)))},
      {"another type of name", message(extension(0, with_length("\x01" + with_length("a.test", 2), 2)))},
      {"an empty name", message(name_extension(""))},
      {"a long name", message(name_extension(std::string(256, 'a')))},
      {"bytes after the list", message(extension(0, with_length(zero + with_length("a.test", 2), 2) + "x"))},
      {"an extension twice", message(name + extension(16, "") + extension(16, ""))},
      {"an extension that ends early", message(name + "\x01")},
      {"an odd number of bytes of suites", message(name, "abc")},
      {"no suites", message(name, "")},
      {"another message", "\x02" + message(name).substr(1)},
      {"bytes after the message", message(name) + "\x0b"},
      {"a length in front that is too short", "\x01" + number(10, 3) + message(name).substr(4)},
  };
  for (const auto& [what, bytes] : rows) EXPECT_EQ(read_client_hello(records(bytes)).state, State::malformed) << what;

  const std::string good = message(name);
  EXPECT_EQ(read_client_hello(std::string("\x16\x03\x01\0\0", 5) + records(good)).state, State::malformed);
  EXPECT_EQ(read_client_hello("\x16\x03\x01\xff\xff" + good).state, State::malformed);
  EXPECT_EQ(read_client_hello(records(good.substr(0, 20)) + std::string("\x15\x03\x01\0\x02\x01\0", 7)).state,
      State::malformed);
  EXPECT_EQ(read_client_hello(records(message({}, "\x13\x01", false))).state, State::complete);
}

TEST(ClientHello, HasALimit) {
  EXPECT_EQ(read_client_hello(records("\x01" + number(20'000, 3) + "\x03\x03")).state, State::malformed);
  // One byte a record: their heads count, too.
  const std::string large = records(message(extension(16, std::string(3'000, 'a'))), 1);
  ASSERT_GT(large.size(), kClientHelloBytesMax);
  EXPECT_EQ(read_client_hello(large).state, State::malformed);
  EXPECT_EQ(read_client_hello(records(message(extension(16, std::string(15'000, 'a'))))).state, State::complete);
}

}  // namespace
}  // namespace guard
