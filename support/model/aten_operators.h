// ATen operators that a plan may call: operators that only compute results from their arguments.
//
// The list leaves out operators that read or write files, draw random numbers, change an argument
// (in place, `out=`, resize, set), pass values to the host, have results whose shape depends on
// data, or return memory without contents. It names operators; an overload is
// named if only that overload may be called. An operator that is pure only for some arguments (batch norm without
// running statistics to update, dropout with probability 0) has a condition. The worker's torch
// knows the schemas and refuses operators that mutate, too. Thread: any.
#pragma once

#include "support/error.h"
#include "support/model/plan.h"

namespace warpwright::model {

/// Errors: an operator that is not on the list, or arguments that break the operator's condition.
Result<void> check_operator(const AtenStep &step);

} // namespace warpwright::model
