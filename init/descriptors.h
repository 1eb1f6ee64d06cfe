// Descriptors that are sent over a socket of the Unix domain (unix(7), SCM_RIGHTS).
#pragma once

#include <string.h>
#include <sys/socket.h>

#include <cstddef>
#include <span>

namespace guard::init {

constexpr size_t kSentMax = 4;

// One byte with at most kSentMax descriptors, which stay open here as well. False with errno: nothing was sent.
inline bool send_descriptors(int socket, std::span<const int> descriptors) {
  char byte = 0;
  iovec data{&byte, sizeof byte};
  alignas(cmsghdr) char control[CMSG_SPACE(kSentMax * sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  if (!descriptors.empty()) {
    message.msg_control = control;
    message.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
    cmsghdr* const rights = CMSG_FIRSTHDR(&message);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(descriptors.size_bytes());
    memcpy(CMSG_DATA(rights), descriptors.data(), descriptors.size_bytes());
  }
  return sendmsg(socket, &message, MSG_NOSIGNAL) == sizeof byte;
}

}  // namespace guard::init
