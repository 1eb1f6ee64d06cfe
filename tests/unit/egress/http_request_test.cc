#include "egress/http_request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace guard {
namespace {

using Form = HttpRequest::Form;
using ::testing::HasSubstr;
using ::testing::Not;

std::string lines(const std::vector<std::string>& all) {
  std::string text;
  for (const std::string& line : all) text += line + "\r\n";
  return text + "\r\n";
}

Result<HttpRequest> parse(const std::vector<std::string>& all, Form form = Form::proxy) {
  return HttpRequest::parse(lines(all), form);
}

TEST(HttpRequest, IsWrittenAnewFromWhatWasRead) {
  const auto request = parse(
      {"GET http://API.example.com:8080/a%20b?c=d HTTP/1.1", "host:  api.example.COM:8080 ", "Accept: */*", "X-One: 1",
          "X-One: 2", "Connection: keep-alive, X-Hop", "X-Hop: h", "Keep-Alive: 5", "Proxy-Connection: keep-alive",
          "Proxy-Authorization: Basic eDp5", "TE: trailers", "Trailer: X", "Upgrade: h2c", "HTTP2-Settings: AA"});
  ASSERT_TRUE(request) << request.error().to_string();
  EXPECT_EQ(request->target().text(), "api.example.com:8080");
  EXPECT_EQ(request->host_field(), request->target());
  EXPECT_TRUE(request->body_done());
  EXPECT_FALSE(request->is_connect());
  EXPECT_EQ(request->head_for_server(),
      lines({"GET /a%20b?c=d HTTP/1.1", "Host: api.example.com:8080", "Accept: */*", "X-One: 1", "X-One: 2",
          "Connection: close"}));
}

TEST(HttpRequest, TakesFieldsOfOursInPlaceOfTheirs) {
  const auto request = parse(
      {"GET http://a.test/ HTTP/1.1", "Host: a.test", "x_API-key: 1", "X-Api-Key: 2", "X_Api_Key: 3", "X-Api-Keys: 4"});
  ASSERT_TRUE(request) << request.error().to_string();
  EXPECT_EQ(request->head_for_server({{"X-Api-Key", "ours"}}),
      lines({"GET / HTTP/1.1", "Host: a.test", "X-Api-Keys: 4", "X-Api-Key: ours", "Connection: close"}));
}

TEST(HttpRequest, HasAPathAndADefaultPort) {
  const std::pair<const char*, const char*> rows[] = {{"http://a.test", "GET / "}, {"http://a.test/", "GET / "},
      {"HTTP://a.test?q", "GET /?q "}, {"http://a.test:80/x", "GET /x "}, {"http://a.test//b.test/", "GET //b.test/ "}};
  for (const auto& [target, begin] : rows) {
    const auto request = parse({std::string("GET ") + target + " HTTP/1.1", "Host: a.test"});
    ASSERT_TRUE(request) << target;
    EXPECT_EQ(request->target().text(), "a.test:80");
    EXPECT_TRUE(request->head_for_server().starts_with(begin)) << request->head_for_server();
    EXPECT_THAT(request->head_for_server(), HasSubstr("\r\nHost: a.test\r\n"));
  }
}

TEST(HttpRequest, AsksForATunnel) {
  for (const std::vector<std::string>& fields : {std::vector<std::string>{}, {"Host: a.test:443"}, {"Host: a.test"}}) {
    std::vector<std::string> all = {"CONNECT a.test:443 HTTP/1.1"};
    all.insert(all.end(), fields.begin(), fields.end());
    const auto request = parse(all);
    ASSERT_TRUE(request) << request.error().to_string();
    EXPECT_TRUE(request->is_connect());
    EXPECT_TRUE(request->body_done());
    EXPECT_EQ(request->target().text(), "a.test:443");
    EXPECT_EQ(request->host_field().text(), "a.test:443");
  }
}

TEST(HttpRequest, RefusesWhatHasTwoMeanings) {
  const std::string get = "GET http://a.test/ HTTP/1.1";
  const std::string post = "POST http://a.test/ HTTP/1.1";
  const std::string host = "Host: a.test";
  const std::vector<std::vector<std::string>> rows = {
      {get},                                                                           // no Host
      {get, host, host},                                                               //
      {get, "Host: "},                                                                 //
      {get, "Host: a.test, b.test"},                                                   //
      {get, "Host: a.test/"},                                                          //
      {get, "Host: u@a.test"},                                                         //
      {get, "Host : a.test"},                                                          //
      {get, " Host: a.test", host},                                                    //
      {get, host, "X: a", " folded"},                                                  //
      {get, host, "X: a", "\tfolded"},                                                 //
      {get, host, "X: a\rY: b"},                                                       //
      {get, host, "X: a\nY: b"},                                                       //
      {get, host, std::string("X: a\0b", 6)},                                          //
      {get, host, "X: \x7f"},                                                          //
      {get, host, "no colon"},                                                         //
      {get, host, ": empty"},                                                          //
      {get, host, "X Y: a"},                                                           //
      {post, host, "Content-Length: 5", "Content-Length: 5"},                          //
      {post, host, "Content-Length: 5", "Content-Length: 6"},                          //
      {post, host, "Content-Length: 5, 5"},                                            //
      {post, host, "Content-Length: +5"},                                              //
      {post, host, "Content-Length: 0x5"},                                             //
      {post, host, "Content-Length: -1"},                                              //
      {post, host, "Content-Length:"},                                                 //
      {post, host, "Content-Length: 99999999999999999999"},                            //
      {post, host, "Content-Length: 5", "Transfer-Encoding: chunked"},                 // CL.TE
      {post, host, "Transfer-Encoding: chunked", "Content-Length: 5"},                 // TE.CL
      {post, host, "Transfer-Encoding: chunked", "Transfer-Encoding: chunked"},        //
      {post, host, "Transfer-Encoding: gzip, chunked"},                                //
      {post, host, "Transfer-Encoding: xchunked"},                                     //
      {post, host, "Transfer-Encoding: identity"},                                     //
      {post, host, "Transfer-Encoding: chunked, identity"},                            //
      {"POST http://a.test/ HTTP/1.0", host, "Transfer-Encoding: chunked"},            //
      {post, host, "Content-Length: 5", "Connection: content-length"},                 //
      {get, host, "Connection: host"},                                                 //
      {get, host, "Expect: 200-ok"},                                                   //
      {get, host, "Connection: upgrade", "Upgrade: foo"},                              //
      {get, host, "Upgrade: websocket"},                                               // without Connection
      {post, host, "Connection: upgrade", "Upgrade: websocket", "Content-Length: 1"},  //
      {"GET http://a.test/ HTTP/2.0", host},                                           //
      {"GET http://a.test/ HTTP/1.2", host},                                           //
      {"GET http://a.test/", host},                                                    //
      {"GET / HTTP/1.1", host},                                                        // no proxy's form
      {"GET * HTTP/1.1", host},                                                        //
      {"GET a.test:80 HTTP/1.1", host},                                                //
      {"GET ftp://a.test/ HTTP/1.1", host},                                            //
      {"GET https://a.test/ HTTP/1.1", host},                                          //
      {"GET http:///x HTTP/1.1", host},                                                //
      {"GET http://u:p@a.test/ HTTP/1.1", host},                                       //
      {"GET http://a.test\\@b.test/ HTTP/1.1", host},                                  //
      {"GET http://a.test/#x HTTP/1.1", host},                                         //
      {"GET http://a.test/ x HTTP/1.1", host},                                         //
      {"GET http://a.test:0/ HTTP/1.1", host},                                         //
      {"GET http://127.1/ HTTP/1.1", "Host: 127.1"},                                   //
      {"GET http://2130706433/ HTTP/1.1", "Host: 2130706433"},                         //
      {"GET http://0x7f.0.0.1/ HTTP/1.1", "Host: 0x7f.0.0.1"},                         //
      {"GET http://[::1%25lo]/ HTTP/1.1", "Host: [::1]"},                              //
      {"CONNECT a.test HTTP/1.1", host},                                               // no port
      {"CONNECT http://a.test:443 HTTP/1.1", host},                                    //
      {"CONNECT a.test:443/ HTTP/1.1", host},                                          //
      {"CONNECT u@a.test:443 HTTP/1.1", host},                                         //
      {"CONNECT a.test:443 HTTP/1.1", host, host},                                     //
      {"CONNECT a.test:443 HTTP/1.1", host, "Content-Length: 5"},                      //
      {"CONNECT a.test:443 HTTP/1.1", host, "Transfer-Encoding: chunked"},             //
      {"CONNECT a.test:443 HTTP/1.1", "Host: a.test:443x"},                            //
      {"", get, host},                                                                 //
  };
  for (const auto& row : rows) {
    const auto request = parse(row);
    ASSERT_FALSE(request) << lines(row);
    EXPECT_EQ(request.error().code(), ErrorCode::input_invalid) << lines(row);
  }
  EXPECT_FALSE(HttpRequest::parse("GET http://a.test/ HTTP/1.1\nHost: a.test\n\n\r\n\r\n", Form::proxy));
  EXPECT_FALSE(HttpRequest::parse("GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\n", Form::proxy));
}

TEST(HttpRequest, TakesAPathBehindATunnel) {
  const auto request = parse({"GET /x HTTP/1.1", "Host: a.test"}, Form::origin);
  ASSERT_TRUE(request);
  EXPECT_EQ(request->target().text(), "a.test:80");
  for (const char* line :
      {"GET http://a.test/ HTTP/1.1", "CONNECT a.test:443 HTTP/1.1", "GET * HTTP/1.1", "GET x HTTP/1.1"})
    EXPECT_FALSE(parse({line, "Host: a.test"}, Form::origin)) << line;
}

// The body as the server gets it, however the client's bytes are cut; what follows is left.
std::string body_of(
    const std::vector<std::string>& head, const std::string& bytes, std::size_t cut, std::string& left, bool& fine) {
  auto request = parse(head);
  EXPECT_TRUE(request);
  std::string out, buffer;
  std::size_t at = 0;
  while (!request->body_done()) {
    if (at == bytes.size()) break;
    const std::size_t size = std::min(cut, bytes.size() - at);
    buffer += bytes.substr(at, size);
    at += size;
    const auto taken = request->take_body(buffer, out);
    fine = taken.has_value();
    if (!taken) return out;
    buffer.erase(0, *taken);
  }
  fine = request->body_done();
  left = buffer + bytes.substr(at);
  return out;
}

std::string unchunked(std::string_view bytes) {
  std::string out;
  while (!bytes.starts_with("0\r\n\r\n") && !bytes.empty()) {
    const std::size_t end = bytes.find("\r\n");
    const std::size_t size = std::stoul(std::string(bytes.substr(0, end)), nullptr, 16);
    out += bytes.substr(end + 2, size);
    bytes.remove_prefix(end + 2 + size + 2);
  }
  return out;
}

TEST(HttpRequest, CutsTheBodyWhereItEnds) {
  const std::vector<std::string> head = {"POST http://a.test/ HTTP/1.1", "Host: a.test"};
  std::vector<std::string> sized = head, chunked = head;
  sized.push_back("Content-Length: 11");
  chunked.push_back("Transfer-Encoding: Chunked");
  const std::string smuggled = "GET /admin HTTP/1.1\r\nHost: b.test\r\n\r\n";
  const std::string chunks = "5;name=\"v\"\r\nhello\r\n6\r\n world\r\n0\r\nX-Trailer: t\r\n\r\n";
  for (const std::size_t cut : {1ul, 2ul, 3ul, 7ul, 1000ul}) {
    std::string left;
    bool fine = false;
    EXPECT_EQ(body_of(sized, "hello world" + smuggled, cut, left, fine), "hello world") << cut;
    EXPECT_TRUE(fine);
    EXPECT_EQ(left, smuggled);
    const std::string out = body_of(chunked, chunks + smuggled, cut, left, fine);
    EXPECT_TRUE(fine) << cut;
    EXPECT_EQ(left, smuggled) << cut;
    EXPECT_EQ(unchunked(out), "hello world") << out;
    EXPECT_TRUE(out.ends_with("0\r\n\r\n")) << out;
    EXPECT_EQ(body_of(chunked, "0\r\n\r\n" + smuggled, cut, left, fine), "0\r\n\r\n");
    EXPECT_TRUE(fine) << cut;
    EXPECT_EQ(left, smuggled) << cut;
    EXPECT_THAT(out, Not(HasSubstr("name")));
    EXPECT_THAT(out, Not(HasSubstr("railer")));
  }
  EXPECT_THAT(parse(chunked)->head_for_server(), HasSubstr("\r\nTransfer-Encoding: chunked\r\n"));
  EXPECT_THAT(parse(sized)->head_for_server(), HasSubstr("\r\nContent-Length: 11\r\n"));
}

TEST(HttpRequest, RefusesBrokenChunks) {
  const std::vector<std::string> head = {"POST http://a.test/ HTTP/1.1", "Host: a.test", "Transfer-Encoding: chunked"};
  for (const char* bytes : {"x\r\n", "-1\r\n", "5\r\nhelloX\r\n0\r\n\r\n", "ffffffffffffffffff\r\n", "0x5\r\nhello\r\n",
           "\r\n", "5 5\r\nhello\r\n"}) {
    for (const std::size_t cut : {1ul, 1000ul}) {
      std::string left;
      bool fine = true;
      body_of(head, bytes, cut, left, fine);
      EXPECT_FALSE(fine) << bytes;
    }
  }
}

TEST(HttpRequest, KnowsAWebSocket) {
  const auto request = parse({"GET http://a.test/chat HTTP/1.1", "Host: a.test", "Connection: keep-alive, Upgrade",
      "Upgrade: WebSocket", "Sec-WebSocket-Key: x"});
  ASSERT_TRUE(request) << request.error().to_string();
  EXPECT_TRUE(request->is_websocket());
  const std::string head = request->head_for_server();
  EXPECT_THAT(head, HasSubstr("\r\nConnection: Upgrade\r\n"));
  EXPECT_THAT(head, HasSubstr("\r\nUpgrade: websocket\r\n"));
  EXPECT_THAT(head, HasSubstr("\r\nSec-WebSocket-Key: x\r\n"));
  EXPECT_TRUE(parse_http_answer("HTTP/1.1 101 x\r\nConnection: upgrade\r\nUpgrade: WebSocket\r\n\r\n")->to_websocket);
  EXPECT_FALSE(parse_http_answer("HTTP/1.1 101 x\r\nUpgrade: h2c\r\n\r\n")->to_websocket);
  EXPECT_FALSE(parse_http_answer("HTTP/1.1 200 x\r\nUpgrade: websocket\r\n\r\n")->to_websocket);
  EXPECT_EQ(parse_http_answer("HTTP/1.0 407 x\r\nContent-Length: 7\r\n\r\n")->status, 407u);
  EXPECT_FALSE(parse_http_answer("SSH-2.0-x\r\n\r\n"));
}

TEST(HttpRequest, ShowsNothingOfTheClientsThatCouldHarmATerminal) {
  const auto request = parse({"GET http://a\x1b[31m.test/ HTTP/1.1", "Host: a.test"});
  ASSERT_FALSE(request);
  EXPECT_THAT(request.error().to_string(), Not(HasSubstr("\x1b")));
}

}  // namespace
}  // namespace guard
