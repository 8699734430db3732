// Examples printed in docs/, so that what people read is what tests check.
#pragma once

#include <string>

namespace firn::test {

// The whole of docs/<name>.
std::string document(const std::string& name);

// The bytes of the block "```hex <name>" in docs/<document_name>: hexadecimal digits up to '|' on
// each line. Fails the test if there is no such block.
std::string hex_example(const std::string& document_name, const std::string& name);

// The text of the block "```text <name>", without its last line feed.
std::string text_example(const std::string& document_name, const std::string& name);

}  // namespace firn::test
