// Whether an address is one of this machine's own, by whichever interface.
#pragma once

#include "common/net/ip_address.h"

namespace guard {

// By the kernel's routes of now: where a packet to it would be delivered here, if to others as well (broadcast,
// multicast). False where it would leave, or there is no way. True as well where the kernel doesn't tell. Nothing is
// sent. An address that another machine translates to one of this machine's is not seen.
bool is_own_address(const IpAddress& address) noexcept;

}  // namespace guard
