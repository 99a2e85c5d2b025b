// Products without the padding that Inductor gives them.
//
// Inductor pads matrices whose rows begin at odd places where its own measurement says so, which differs from run to
// run. A program without that padding is the same in each run, and leaves the choice to the search.
#pragma once

#include <nlohmann/json.hpp>

namespace warpwright::regions {

/// The program (Program::document) with each product of zero-padded matrices, whose padding is cut off again, as a
/// product of the matrices. What nothing else reads of pads and cuts goes.
nlohmann::json without_padding(nlohmann::json program);

} // namespace warpwright::regions
