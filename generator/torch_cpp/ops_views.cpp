// Views: what looks at elements and computes nothing. They say how a write goes through them.
#include "generator/torch_cpp/operators.h"

#include <algorithm>
#include <array>

namespace warpwright::generator::torch_cpp {
namespace {

using model::Shape;

/// Of lists of views, and of tables of places.
constexpr std::int64_t kMostParts = 4096, kMostPlaces = 65536;

Value reshaped(Call &call, Shape shape) {
  GraphWriter &graph = call.graph;
  const Shape old = graph.shape(call.tensor("self"));
  if (model::elements_of(shape) != model::elements_of(old))
    return call.refuse("the shapes do not hold as many elements");
  return call.view(
      "self",
      [&graph, shape = std::move(shape)](const std::string &base) {
        return graph.reshape(base, shape);
      },
      [&graph, old](const std::string &, const std::string &now) {
        return graph.reshape(now, old);
      });
}

/// -1 stands for what is left.
Value view(Call &call) {
  if (call.name == "view_as" || call.name == "reshape_as")
    return reshaped(call, call.graph.shape(call.tensor("other")));
  auto shape = call.list("shape");
  if (!shape)
    return call.refuse("its shape is not known here");
  const std::int64_t elements = call.graph.elements(call.tensor("self"));
  std::int64_t known = 1;
  for (const std::int64_t extent : *shape)
    known *= extent < 0 ? 1 : extent;
  for (std::int64_t &extent : *shape)
    if (extent < 0 && known > 0)
      extent = elements / known;
  return reshaped(call, *shape);
}

Value flatten(Call &call) {
  const Shape old = call.graph.shape(call.tensor("self"));
  const auto rank = static_cast<std::int64_t>(old.size());
  const std::int64_t start = call.dim("start_dim", rank, 0), end = call.dim("end_dim", rank, -1);
  Shape shape;
  std::int64_t merged = 1;
  for (std::int64_t dim = 0; dim < rank; ++dim) {
    const std::int64_t extent = old[static_cast<std::size_t>(dim)];
    if (dim < start || dim > end) {
      shape.push_back(extent);
      continue;
    }
    merged *= extent;
    if (dim == end)
      shape.push_back(merged);
  }
  return reshaped(call, rank == 0 ? Shape{1} : shape);
}

Value unflatten(Call &call) {
  Shape shape = call.graph.shape(call.tensor("self"));
  const std::int64_t dim = call.dim("dim", static_cast<std::int64_t>(shape.size()), 0);
  Shape sizes = call.list("sizes").value_or(Shape{});
  if (shape.empty())
    return call.refuse("it divides the dimension of a scalar");
  std::int64_t known = 1;
  for (const std::int64_t extent : sizes)
    known *= extent < 0 ? 1 : extent;
  for (std::int64_t &extent : sizes)
    extent = extent < 0 ? shape[static_cast<std::size_t>(dim)] / std::max<std::int64_t>(known, 1)
                        : extent;
  shape.erase(shape.begin() + dim);
  shape.insert(shape.begin() + dim, sizes.begin(), sizes.end());
  return reshaped(call, shape);
}

Value squeeze(Call &call) {
  const Shape old = call.graph.shape(call.tensor("self"));
  const auto rank = static_cast<std::int64_t>(old.size());
  const Shape dims = call.dims("dim", rank);
  Shape shape;
  for (std::int64_t dim = 0; dim < rank; ++dim)
    if (old[static_cast<std::size_t>(dim)] != 1 || std::ranges::find(dims, dim) == dims.end())
      shape.push_back(old[static_cast<std::size_t>(dim)]);
  return reshaped(call, shape);
}

Value unsqueeze(Call &call) {
  Shape shape = call.graph.shape(call.tensor("self"));
  const std::int64_t dim = call.dim("dim", static_cast<std::int64_t>(shape.size()) + 1, 0);
  shape.insert(shape.begin() + dim, 1);
  return reshaped(call, shape);
}

Value permuted(Call &call, Shape dims) {
  Shape back(dims.size());
  for (std::size_t i = 0; i < dims.size(); ++i)
    back[static_cast<std::size_t>(dims[i])] = static_cast<std::int64_t>(i);
  GraphWriter &graph = call.graph;
  return call.view(
      "self", [&graph, dims](const std::string &base) { return graph.permute(base, dims); },
      [&graph, back](const std::string &, const std::string &now) {
        return graph.permute(now, back);
      });
}

Value permute(Call &call) {
  const std::int64_t rank = call.graph.rank(call.tensor("self"));
  Shape dims = call.list("dims").value_or(Shape{});
  for (std::int64_t &dim : dims)
    dim = dim < 0 ? dim + rank : dim;
  Shape sorted = dims;
  std::ranges::sort(sorted);
  for (std::int64_t dim = 0; dim < rank; ++dim)
    if (static_cast<std::int64_t>(sorted.size()) != rank ||
        sorted[static_cast<std::size_t>(dim)] != dim)
      return call.refuse("its dimensions are no permutation");
  return permuted(call, dims);
}

Value transpose(Call &call) {
  const std::int64_t rank = call.graph.rank(call.tensor("self"));
  Shape dims;
  for (std::int64_t dim = 0; dim < rank; ++dim)
    dims.push_back(dim);
  if (call.name == "t" && rank > 2)
    return call.refuse("it transposes a tensor with " + std::to_string(rank) + " dimensions");
  if (rank > 1 || call.name == "transpose") {
    const bool last = call.name == "mT";
    const std::int64_t first = call.dim("dim0", rank, last ? -2 : 0),
                       second = call.dim("dim1", rank, last ? -1 : 1);
    if (rank > 0 && call.refusal().empty())
      std::swap(dims[static_cast<std::size_t>(first)], dims[static_cast<std::size_t>(second)]);
  }
  return permuted(call, dims);
}

Value expand(Call &call) {
  GraphWriter &graph = call.graph;
  const Shape old = graph.shape(call.tensor("self"));
  Shape shape = call.name == "expand_as" ? graph.shape(call.tensor("other"))
                                         : call.list("size").value_or(Shape{});
  if (shape.size() < old.size())
    return call.refuse("it expands to fewer dimensions");
  for (std::size_t i = 0; i < old.size(); ++i)
    if (std::int64_t &extent = shape[shape.size() - old.size() + i]; extent < 0)
      extent = old[i];
  const bool grows = model::elements_of(shape) != model::elements_of(old);
  std::function<std::string(const std::string &, const std::string &)> backward;
  if (!grows)
    backward = [&graph, old](const std::string &, const std::string &now) {
      return graph.reshape(now, old);
    };
  return call.view(
      "self", [&graph, shape](const std::string &base) { return graph.expand(base, shape); },
      std::move(backward));
}

Value sliced(Call &call, std::int64_t dim, std::int64_t start, std::int64_t stop,
             std::int64_t step) {
  GraphWriter &graph = call.graph;
  const std::int64_t extent = graph.shape(call.tensor("self")).at(static_cast<std::size_t>(dim));
  const auto backward = [=, &graph](const std::string &base, const std::string &now) {
    if (step == 1)
      return graph.cat(
          {graph.slice(base, dim, 0, start), now, graph.slice(base, dim, stop, extent)}, dim);
    Shape places;
    for (std::int64_t place = 0; place < std::min(extent, kMostPlaces); ++place)
      places.push_back(place >= start && place < stop && (place - start) % step == 0
                           ? extent + (place - start) / step
                           : place);
    return graph.index_select(graph.cat({base, now}, dim), dim, graph.index_constant(places));
  };
  return call.view(
      "self",
      [=, &graph](const std::string &base) { return graph.slice(base, dim, start, stop, step); },
      backward);
}

std::int64_t bounded(std::int64_t place, std::int64_t extent) {
  return std::clamp(place < 0 ? place + extent : place, std::int64_t{0}, extent);
}

Value slice(Call &call) {
  const Shape &shape = call.graph.shape(call.tensor("self"));
  const std::int64_t dim = call.dim("dim", static_cast<std::int64_t>(shape.size()), 0);
  if (shape.empty() || !call.refusal().empty())
    return call.refuse("it slices a scalar");
  const std::int64_t extent = shape[static_cast<std::size_t>(dim)];
  std::int64_t start = bounded(call.integer("start", 0), extent);
  std::int64_t stop = bounded(call.integer("end", extent), extent);
  const std::int64_t step = call.integer("step", 1);
  if (call.name == "narrow")
    stop = start + call.integer("length", 0);
  if (step < 1 || stop > extent)
    return call.refuse("it reaches outside of dimension " + std::to_string(dim));
  return sliced(call, dim, start, std::max(start, stop), step);
}

Value selected(Call &call, std::int64_t dim, std::int64_t index) {
  GraphWriter &graph = call.graph;
  const std::int64_t extent = graph.shape(call.tensor("self")).at(static_cast<std::size_t>(dim));
  return call.view(
      "self", [=, &graph](const std::string &base) { return graph.select(base, dim, index); },
      [=, &graph](const std::string &base, const std::string &now) {
        return graph.cat({graph.slice(base, dim, 0, index), graph.unsqueeze(now, dim),
                          graph.slice(base, dim, index + 1, extent)},
                         dim);
      });
}

Value select(Call &call) {
  const Shape &shape = call.graph.shape(call.tensor("self"));
  const std::int64_t dim = call.dim("dim", static_cast<std::int64_t>(shape.size()), 0);
  if (shape.empty() || !call.refusal().empty())
    return call.refuse("it selects from a scalar");
  const std::int64_t index = call.dim("index", shape[static_cast<std::size_t>(dim)], 0);
  return call.refusal().empty() ? selected(call, dim, index) : Value(Unknown{call.refusal()});
}

Value split(Call &call) {
  const Shape shape = call.graph.shape(call.tensor("self"));
  const std::int64_t dim = call.dim("dim", static_cast<std::int64_t>(shape.size()), 0);
  if (shape.empty() || !call.refusal().empty())
    return call.refuse("it splits a scalar");
  const std::int64_t extent = shape[static_cast<std::size_t>(dim)];
  List parts;
  if (call.name == "unbind" && extent > kMostParts)
    return call.refuse("it makes too many tensors");
  if (call.name == "unbind") {
    for (std::int64_t index = 0; index < extent; ++index)
      parts.push_back(selected(call, dim, index));
    return parts;
  }
  Shape sizes = call.list("sizes").value_or(Shape{});
  if (sizes.empty() || (sizes.size() == 1 && sizes.front() < 1))
    return call.refuse("its sizes are not known here");
  if (!call["sizes"].as<List>()) {
    const std::int64_t size =
        call.name == "chunk" ? (extent - 1) / sizes.front() + 1 : sizes.front();
    if (size > 0 && extent / size > kMostParts)
      return call.refuse("it makes too many tensors");
    sizes.clear();
    for (std::int64_t start = 0; start < extent; start += size)
      sizes.push_back(std::min(size, extent - start));
  }
  std::int64_t start = 0;
  for (const std::int64_t size : sizes) {
    if (size < 0 || start + size > extent)
      return call.refuse("its sizes exceed dimension " + std::to_string(dim));
    parts.push_back(sliced(call, dim, start, start + size, 1));
    start += size;
  }
  return parts;
}

/// No copy is of interest to a graph.
Value same(Call &call) {
  return call.view(
      "self", [](const std::string &base) { return base; },
      [](const std::string &, const std::string &now) { return now; });
}

Value copied(Call &call) { return call.made(call.tensor("self")); }

constexpr std::array kOperators = {
    Operator{"view reshape", "self shape", view},
    Operator{"view_as reshape_as", "self other", view},
    Operator{"flatten", "self start_dim end_dim", flatten},
    Operator{"unflatten", "self dim sizes", unflatten},
    Operator{"squeeze", "self dim", squeeze},
    Operator{"unsqueeze", "self dim", unsqueeze},
    Operator{"permute", "self dims", permute},
    Operator{"transpose swapaxes swapdims", "self dim0 dim1", transpose},
    Operator{"t mT", "self", transpose},
    Operator{"expand broadcast_to", "self size", expand},
    Operator{"expand_as", "self other", expand},
    Operator{"slice", "self dim start end step", slice},
    Operator{"narrow", "self dim start length", slice},
    Operator{"select", "self dim index", select},
    Operator{"split split_with_sizes chunk", "self sizes dim", split},
    Operator{"unbind", "self dim", split},
    Operator{"detach alias", "self", same},
    Operator{"clone contiguous cuda cpu", "self", copied},
};

} // namespace

std::span<const Operator> view_operators() { return kOperators; }

} // namespace warpwright::generator::torch_cpp
