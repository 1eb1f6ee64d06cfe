// Whether guard has read a file, under whatever name: for who is about to write to it.
//
// Safe to use from several threads.
#pragma once

#include <sys/stat.h>

#include <string>

namespace guard {

class ReadWatch {
 public:
  // From now on, of the file that `status` tells of.
  explicit ReadWatch(const struct stat& status);
  ReadWatch(const ReadWatch&) = delete;
  ReadWatch& operator=(const ReadWatch&) = delete;
  ~ReadWatch();

  // The name it was first read under; empty: it was not read.
  std::string read_as() const;

  // For read_file(), of every file that it reads.
  static void tell(const struct stat& status, const std::string& path);

 private:
  dev_t device_;
  ino_t inode_;
  std::string read_as_;  // under the mutex
};

}  // namespace guard
