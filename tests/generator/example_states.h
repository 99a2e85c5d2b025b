// The kernels of examples/ with their tasks, and the states that legal moves reach from them. Thread: one.
#pragma once

#include "generator/text/states/generator.h"

#include <functional>

namespace warpwright::test {

struct Example {
  source::State state;
  model::Task task;
};

/// Every kernel of the examples whose task is inferred; fails the test when there are few.
std::vector<Example> all_examples();

/// Visits every state that one legal move reaches, and (with `pairs`) from each of them one more move of each name.
void for_each_state(const Example &example, bool pairs,
                    const std::function<void(const source::State &)> &visit);

std::string moves_text(const source::State &state);

} // namespace warpwright::test
