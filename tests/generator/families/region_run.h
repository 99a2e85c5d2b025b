// Runs one lowering of a region on the CPU device, for tests of families.
//
// Inputs of the region are what the reference interpreter gives for the whole graph; so is what comes out compared. Buffers end where the
// guard pages start, and outputs are poisoned, so that a missing store or a read past the end shows. Thread: one.
#pragma once

#include "generator/elements/family.h"
#include "runner/device/device.h"
#include "tests/generator/graph_interpreter.h"

namespace warpwright::test {

/// One process has one CPU device.
runner::Device &cpu_device();

/// The facts of the CPU backend.
elements::DeviceFacts cpu_facts();

/// Everything that a plan of this one region would hold as its source.
std::string whole_source(const elements::Lowering &lowering);

/// Runs the lowering. @param values of every node, as interpret() gives them
/// @return the region's outputs, by name; or what went wrong, with the compiler's log
Result<Arrays> run_region(const ops::GraphIndex &graph, const elements::Region &region,
                          const elements::Lowering &lowering, const Arrays &values);

/// Lowers in one configuration, runs and compares. @return empty, or what is wrong: which output, by how much, or the error
std::string check_region(const ops::GraphIndex &graph, const elements::Region &region,
                         const elements::Family &family,
                         const elements::Configuration &configuration, const Arrays &values,
                         double tolerance);

/// "{threads=256, vector=4}"
std::string describe(const elements::Configuration &configuration);

} // namespace warpwright::test
