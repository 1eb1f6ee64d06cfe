// What an operation says on its standard output, in pieces of some size.
#pragma once

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <cstddef>

namespace guard::init {

inline bool write_all(int fd, const char* bytes, size_t size) {
  while (size > 0) {
    const ssize_t written = write(fd, bytes, size);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes += written;
    size -= static_cast<size_t>(written);
  }
  return true;
}

class TaskOutput {
 public:
  // What is larger than all room there is is refused.
  bool add(const char* bytes, size_t size) {
    if (size_ + size > sizeof text_ && (!flush() || size > sizeof text_)) return false;
    memcpy(text_ + size_, bytes, size);
    size_ += size;
    return true;
  }
  bool flush() {
    const bool written = write_all(1, text_, size_);
    size_ = 0;
    return written;
  }

 private:
  char text_[32 * 1024];
  size_t size_ = 0;
};

}  // namespace guard::init
