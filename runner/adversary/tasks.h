// Tasks that the cases attack, and helpers to write plans in a few lines.
//
// Every task has sizes for timing on a GPU and smaller ones for the CPU backend. All expression
// texts are in this folder, not from users, so an invalid one throws and ends the command.
// Thread: any.
#pragma once

#include "support/model/task.h"

#include <string>
#include <vector>

namespace warpwright::runner::adversary {

using model::Direction;
using model::Dtype;
using model::Plan;
using model::Task;

symbolic::Expression expression(const std::string &text);

/// A launch with these arguments: "x" is a buffer, "x+4" a buffer from element 4 on, "=n" an int32.
/// @param grid, block one expression for each axis
model::LaunchStep launch(const std::string &kernel, const std::vector<std::string> &grid,
                         const std::vector<std::string> &block,
                         const std::vector<std::string> &arguments,
                         const std::string &shared_bytes = "0");

/// One launch of 256 threads per block, over n elements by default.
Plan plan_of(const std::string &source, const std::string &kernel,
             const std::vector<std::string> &arguments,
             const std::string &grid = "ceil_div(n, 256)");

/// The same plan with float replaced by double, and without the suffix f of literals and functions.
Plan in_double(Plan plan);

/// y = x * x; sizes n. Memory bound.
Task square_task();
/// Kernel `square` with this body, in which x, y, n and i are defined; `before` precedes it.
Plan square(const std::string &body, const std::string &before = "");
/// The same with `statement` before the reference's body.
Plan square_after(const std::string &statement, const std::string &before = "");

/// y = f(f(...f(x))) with an integer map f: compute bound and exact. x and y are uint32.
/// @param operations the task's declared minimum work per element, low enough that a plan that
/// copies stored results is not yet faster than possible
Task iterate_task(int rounds = 4096, int operations = 400);
/// Kernel `iterate` with this body; work(v) is the reference's computation for one value.
Plan iterate(const std::string &body, const std::string &before = "", int rounds = 4096);

/// y[i] = x[i - 1] + x[i] + x[i + 1] for inner i; the two ends are not written.
Task stencil_task();
Plan stencil(const std::string &body);

/// v[i] += v[i - 1] with the old values; v is InOut, and the reference uses a temporary.
Task smooth_task();

/// out[0] = the sum of x, with an fp64 twin.
Task sum_task();
/// out[0] = the mean of the squares of x, with an fp64 twin.
Task mean_square_task();
/// counts[b] = the number of keys equal to b, for 256 bins.
Task histogram_task();
/// total[0] = the 64-bit sum of 32-bit integers.
Task integer_sum_task();
/// Row-wise softmax of x (rows, cols), with an fp64 twin.
Task softmax_task();
/// c = a b, each (m, m), with an fp64 twin and the number of flops.
Task matmul_task();
/// y = an expression of x, such as "expf(x)", for each element, with an fp64 twin.
Task map_task(const std::string &expression,
              model::Distribution::Kind kind = model::Distribution::Kind::Normal);
/// Kernel `map` that computes y = an expression of x; `before` precedes it.
Plan map(const std::string &expression, const std::string &before = "");
/// y = x * x + 1 / (1 + x * x) in double.
Task double_task();

} // namespace warpwright::runner::adversary
