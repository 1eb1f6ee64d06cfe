// Where a verb speaks: results on `out`, talk on `err`. A reader that goes away (`guard ... | head`) ends the writing
// quietly; any other failure is kept until flush(), so that a verdict that could not be written is not taken for one
// that was.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "common/byte_sink.h"
#include "common/cancel.h"
#include "common/environment.h"
#include "common/error.h"
#include "common/result.h"

namespace guard {

enum class ColorChoice : std::uint8_t { automatic, always, never };
enum class Buffering : std::uint8_t { none, full };

// Not thread-safe.
class OutStream final : public ByteSink {
 public:
  // Does not own `fd`.
  OutStream(int fd, Buffering buffering) : fd_(fd), buffering_(buffering) {}
  // For tests: everything is appended to `text`, which must outlive this.
  explicit OutStream(std::string& text) : text_(&text) {}

  void write(std::string_view text);
  template <typename... Arguments>
  void print(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    write(fmt::format(format, std::forward<Arguments>(arguments)...));
  }

  // IO_ERROR for the first failure there was since the beginning. A reader that went away is none.
  Result<void> flush();
  bool reader_left() const noexcept { return reader_left_; }
  // A write that waits for a reader who does not read is given up when `stop` is asked for; nothing is written from
  // then on, so the caller has to look at `stop` before it calls the output complete.
  void give_up_when(const CancelToken& stop) { stop_ = &stop; }

  // A program's output on its way through: written at once.
  Result<void> push(std::span<const char> bytes) override;
  Result<void> finish() override { return flush(); }

 private:
  int fd_ = -1;
  std::string* text_ = nullptr;
  Buffering buffering_ = Buffering::none;
  std::string buffer_;
  int failure_ = 0;  // errno
  bool reader_left_ = false;
  const CancelToken* stop_ = nullptr;
};

struct Streams {
  OutStream out;
  OutStream err;
  bool out_is_terminal = false;
  bool err_is_terminal = false;
  bool out_color = false;
  bool err_color = false;

  // Standard output and standard error of this process, colours as for ColorChoice::automatic.
  static Streams standard(const Environment& environment);
  void choose_color(ColorChoice choice, const Environment& environment);
};

// --color beats NO_COLOR (https://no-color.org), which beats the terminal.
bool wants_color(ColorChoice choice, bool is_terminal, const Environment& environment);

// Before anything is opened: puts something that fails in the place of a standard stream that is closed. What is opened
// next would get its number, and be read as input or written over by output.
void occupy_closed_streams() noexcept;

// "error: CODE: message", "  while ...", "  hint: ..." on `err`, whatever bytes the message holds. What was written to
// `out` before is let out first.
void print_error(Streams& streams, const Error& error);

}  // namespace guard
