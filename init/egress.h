// Connections of programs to the outside (runner/egress/egress_protocol.h): init accepts them on the loopback and
// hands them out as streams. Where they lead is guard's business: init does not look at a byte of them.
//
// All is in static memory. A program that does not read stops its own connection only; one that guard has given up is
// read to its end, so that the last answer reaches the program before the close does.
#pragma once

#include <cstddef>

namespace guard::init {

// Before any program is there that could take the port.
void open_egress();

// To be polled for reading, negative without open_egress(); then look_at_egress().
int egress_descriptor();
bool look_at_egress();  // true: there may be more

// A frame of guard's.
void take_egress(const char* payload, size_t size);

// While no frame is pending: whether another one has begun.
bool next_egress_frame();

// Whether programs may have sent what guard has not been told of. Once they have ended that is over when all is told.
bool egress_owes();

// Between two programs.
void cut_egress();

}  // namespace guard::init
