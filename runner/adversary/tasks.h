// Tasks that the cases attack, and helpers to write plans in a line or two.
//
// Every task names sizes for a GPU to be timed at, and smaller ones that the CPU backend affords.
// Texts of expressions are written here, not by users: a bad one throws, which ends the command.
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

/// A launch with these arguments: "x" a buffer, "x+4" a buffer from element 4 on, "=n" an int32.
/// @param grid, block one expression an axis
model::LaunchStep launch(const std::string &kernel, const std::vector<std::string> &grid,
                         const std::vector<std::string> &block,
                         const std::vector<std::string> &arguments,
                         const std::string &shared_bytes = "0");

/// One launch of 256 threads a block, over n elements where `grid` is not given.
Plan plan_of(const std::string &source, const std::string &kernel,
             const std::vector<std::string> &arguments,
             const std::string &grid = "ceil_div(n, 256)");

/// The same source with float replaced by double, and the f of literals and functions dropped.
Plan in_double(Plan plan);

/// y = x * x; sizes n. Memory bound.
Task square_task();
/// Kernel `square` with this body, in which x, y, n and i are known; `before` stands before it.
Plan square(const std::string &body, const std::string &before = "");
/// The same with the reference's body last and `statement` in front of it.
Plan square_after(const std::string &statement, const std::string &before = "");

/// y = f(f(...f(x))), f an integer map: compute bound, and exact. x, y are uint32.
/// @param operations that the task declares as its least work, an element: so few that a plan which
/// copies kept results is not yet faster than possible
Task iterate_task(int rounds = 4096, int operations = 400);
/// Kernel `iterate` with this body; work(v) is what the reference does to one value.
Plan iterate(const std::string &body, const std::string &before = "", int rounds = 4096);

/// y[i] = x[i - 1] + x[i] + x[i + 1] for inner i; the two ends are left alone.
Task stencil_task();
Plan stencil(const std::string &body);

/// v[i] += v[i - 1] of the old values; v is in and out, the reference goes through a temporary.
Task smooth_task();

/// out[0] = the sum of x, with an fp64 twin.
Task sum_task();
/// out[0] = the mean of the squares of x, with an fp64 twin.
Task mean_square_task();
/// counts[b] = how many of keys equal b, 256 bins.
Task histogram_task();
/// total[0] = the 64-bit sum of 32-bit integers.
Task integer_sum_task();
/// Row-wise softmax of x (rows, cols), with an fp64 twin.
Task softmax_task();
/// c = a b, (m, m) each, with an fp64 twin and its flops.
Task matmul_task();
/// y = expression of x for each element, with an fp64 twin: "expf(x)".
Task map_task(const std::string &expression,
              model::Distribution::Kind kind = model::Distribution::Kind::Normal);
/// Kernel `map` that computes y = expression of x; `before` stands before it.
Plan map(const std::string &expression, const std::string &before = "");
/// y = x * x + 1 / (1 + x * x) in double.
Task double_task();

} // namespace warpwright::runner::adversary
