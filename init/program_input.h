// The standard input of the program: what guard hands over on the life line, a chunk each time that init asks for one
// (runner/init_side/init_protocol.h). So a program that does not read holds nothing else up, and no chunk is ever in
// the way of the life line's end.
//
// In static memory, of one program. The order: open_input(), then, around each poll, input_descriptor() and
// write_input() when it is ready; close_input() once the program has ended.
#pragma once

#include <cstddef>

namespace guard::init {

// The end of the pipe that becomes the program's standard input.
int open_input();

// To be polled for room while a chunk waits, else negative.
int input_descriptor();

// Is another chunk to be asked for?
bool wants_input();
void asked_for_input();

// An input frame of guard's. What was not asked for is nothing that guard would say: init leaves.
void take_input(const char* payload, size_t size);
void write_input();

void close_input();

}  // namespace guard::init
