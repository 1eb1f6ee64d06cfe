// The body of a message of HTTP/1, as Beast decodes it piece by piece.
#pragma once

#include <fmt/format.h>

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http.hpp>
#include <string>
#include <string_view>

#include "common/result.h"

namespace guard {

inline std::string http_chunk(std::string_view bytes) {
  return bytes.empty() ? std::string() : fmt::format("{:x}\r\n{}\r\n", bytes.size(), bytes);
}

// Takes what it can from `bytes` and gives each piece of the body to `piece`. Returns how much it took; INPUT_INVALID.
template <typename Parser, typename Piece>
Result<std::size_t> take_http_body(Parser& parser, std::string_view bytes, const Piece& piece) {
  namespace http = boost::beast::http;
  std::size_t taken = 0;
  std::array<char, 16ul * 1024> buffer{};
  while (!parser.is_done() && taken < bytes.size()) {
    // Beast 1.81 asserts that a last chunk that was looked at once has five bytes when it is looked at again; with less
    // it can't be whole.
    if (parser.chunked() && bytes.size() - taken < 5 && bytes[taken] == '0') break;
    parser.get().body().data = buffer.data();
    parser.get().body().size = buffer.size();
    parser.get().body().more = true;
    boost::system::error_code failure;
    const std::size_t used = parser.put(boost::asio::buffer(bytes.data() + taken, bytes.size() - taken), failure);
    taken += used;
    piece(std::string_view(buffer.data(), buffer.size() - parser.get().body().size));
    if (failure == http::error::need_more || (!failure && used == 0 && !parser.is_done())) break;
    if (failure && failure != http::error::need_buffer)
      return Error(ErrorCode::input_invalid, fmt::format("the body is broken: {}", failure.message()));
  }
  return taken;
}

}  // namespace guard
