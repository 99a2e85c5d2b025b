// From an anchor's element to the elements of what is computed from it: which nodes keep elements one to one, and where they put them.
// Thread: pure functions.
#pragma once

#include "generator/elements/element_pass.h"

#include <optional>

namespace warpwright::elements {

/// Whether each element of `node` comes from one element of `operand` and each of those is used once: pointwise ops that do not
/// broadcast it, reshape, permute, flip, roll, and expand to the same shape.
bool keeps_elements(const ops::GraphIndex &graph, const model::Node &node,
                    const std::string &operand);

/// Where elements of `operand` at `lanes` are in `node`, which keeps them.
ops::Lanes forward(ElementPass &pass, const ops::GraphIndex &graph, const model::Node &node,
                   const std::string &operand, const ops::Lanes &lanes);

/// Index forms of nodes behind `start`, in graph order, from those of `start`.
/// @return nullopt when a node takes the value at two different places
std::optional<std::vector<std::pair<std::string, ops::Lanes>>>
forward_all(ElementPass &pass, const ops::GraphIndex &graph, const std::vector<std::string> &nodes,
            const std::vector<std::string> &starts, const ops::Lanes &lanes);

/// Whether an anchor's store can write all these nodes in place: each keeps the elements of those before it, and no value is used at two
/// different places.
bool may_follow(const ops::GraphIndex &graph, const std::vector<std::string> &nodes,
                const std::string &anchor);

} // namespace warpwright::elements
