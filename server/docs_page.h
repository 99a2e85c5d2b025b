// Pages of the documentation, in an installation or beside a build. Thread: any.
#pragma once

#include <string>

namespace warpwright::server {

/// Path of a page or folder of pages ("rules.md", "rules"); empty if it is not there.
std::string find_docs_page(const std::string &name);

} // namespace warpwright::server
