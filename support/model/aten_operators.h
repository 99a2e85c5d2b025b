// Which ATen operators a plan may call: those that compute their results from their arguments and do nothing else.
//
// Left out on purpose: what reads or writes files, draws random numbers, changes an argument (in place, `out=`, resize, set), hands
// values to the host, has results whose shape depends on data, or gives memory without contents. The list names operators,
// not overloads; an operator that is pure only for some arguments (batch norm without running statistics to update, dropout
// that drops nothing) has a condition. The worker's torch knows the schemas and refuses what mutates once more. Thread: any.
#pragma once

#include "support/error.h"
#include "support/model/plan.h"

namespace warpwright::model {

/// Errors: an operator that is not on the list, or whose condition these arguments break.
Result<void> check_operator(const AtenStep &step);

} // namespace warpwright::model
