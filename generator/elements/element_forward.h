// Forward index maps: from an anchor's elements to elements of the nodes behind it, for nodes that keep elements one to
// one.
#pragma once

#include "generator/elements/element_pass.h"

#include <optional>

namespace warpwright::elements {

/// Returns true where each element of `node` comes from one element of `operand` and each of those is used once:
/// pointwise ops that do not broadcast it, reshape, permute, flip, roll, and expand to the same shape.
bool keeps_elements(const ops::GraphIndex &graph, const model::Node &node,
                    const std::string &operand);

/// Returns the places in `node` of the elements of `operand` at `lanes`. `node` must keep elements.
ops::Lanes forward(ElementPass &pass, const ops::GraphIndex &graph, const model::Node &node,
                   const std::string &operand, const ops::Lanes &lanes);

/// Returns the index forms of nodes behind `starts`, in graph order, derived from those of `starts`.
/// @return nullopt when a node takes the value at two different places
std::optional<std::vector<std::pair<std::string, ops::Lanes>>>
forward_all(ElementPass &pass, const ops::GraphIndex &graph, const std::vector<std::string> &nodes,
            const std::vector<std::string> &starts, const ops::Lanes &lanes);

/// Returns true where an anchor's store can write all these nodes in place: each keeps the elements of those before it,
/// and no value is used at two different places.
bool may_follow(const ops::GraphIndex &graph, const std::vector<std::string> &nodes,
                const std::string &anchor);

} // namespace warpwright::elements
