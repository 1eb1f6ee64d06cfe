// An internet and a machine on it, both of a test's own: two network namespaces, joined by a pair of interfaces. For
// root, with `ip`.
//
// While one lives, the thread that made it is on the machine, with whatever threads and programs it starts. What the
// machine sends to any address but its own goes to the internet, and that one takes every address for its own: whoever
// listens there on all addresses would serve a private one or that of a metadata service, too. So what must not be
// dialled would be reached if it were, and is seen besides: arrived() is what came, whatever its protocol.
#pragma once

#include <set>
#include <string>

#include "common/unique_fd.h"

namespace guard::test {

class OwnInternet {
 public:
  static constexpr const char* kMachine = "9.1.1.1";
  static constexpr const char* kMachine6 = "3ffe:1::1";
  static constexpr const char* kRouter = "9.1.1.254";  // the one that a server of the internet has to bind itself to
  static constexpr const char* kRouter6 = "3ffe:1::fe";

  OwnInternet();
  ~OwnInternet();  // on the thread that made it
  OwnInternet(const OwnInternet&) = delete;
  OwnInternet& operator=(const OwnInternet&) = delete;

  std::string fault() const { return fault_; }  // why there is none; else empty

  // This thread is in the internet while one of these lives, with what it starts meanwhile.
  class Visit {
   public:
    explicit Visit(const OwnInternet& where);
    ~Visit();
    Visit(const Visit&) = delete;
    Visit& operator=(const Visit&) = delete;

   private:
    const OwnInternet& where_;
  };

  // What has come from the machine since the last call: "TCP 9.2.0.1:80", "UDP [3ffe:2::1]:53", and of other protocols
  // their number, "protocol 1 8.8.8.8". Without what kernels tell each other of neighbours (ARP, RFC 4861, RFC 3810).
  // A test failure where some of it is not known.
  std::set<std::string> arrived();

 private:
  std::string fault_;
  UniqueFd home_;
  UniqueFd internet_;
  UniqueFd machine_;
  UniqueFd packets_;  // as they come
};

}  // namespace guard::test
