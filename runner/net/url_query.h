// Members of a runner URL's query: NAME=VALUE&NAME=VALUE, percent-encoded. Thread: any.
#pragma once

#include "support/error.h"

#include <map>
#include <string>
#include <string_view>

namespace warpwright::runner::net {

/// Errors: a % without two hexadecimal digits after it.
Result<std::string> percent_decoded(std::string_view text);

/// Stores the members of a query into the variables in `known`.
/// @param form the remedy for an unknown member: the forms of the URL
/// Errors: a member that is unknown, has no value or cannot be decoded.
Result<void> read_query(std::string_view query, const std::map<std::string, std::string *> &known,
                        const std::string &form);

/// A number of seconds. @param name of the member, for the error
/// Errors: a text that is not a whole number, or a number over 31 bits.
Result<unsigned> to_seconds(const std::string &text, const std::string &name,
                            const std::string &form);

} // namespace warpwright::runner::net
