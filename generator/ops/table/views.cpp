// Views, and operators that read elements where an index says.
#include "generator/ops/attributes.h"
#include "generator/ops/infer.h"
#include "generator/ops/table/rows.h"

namespace warpwright::ops::table {
namespace {

using model::Node;
using enum AttributeKind;

Bounds first_or_zero(const Node &, std::span<const Bounds> x) {
  return bounds::hull(x[0], {0, 0});
}

Op view(std::string_view name, InferTypes infer, FromResult from_result, ToResult to_result,
        std::vector<AttributeRule> attributes = {}, InferBounds bounds = first) {
  return {.name = name,
          .kind = Kind::View,
          .least_operands = 1,
          .most_operands = 1,
          .attributes = std::move(attributes),
          .infer = infer,
          .from_result = from_result,
          .to_result = to_result,
          .bounds = bounds};
}

using model::Shape;

/// Moves each lane by `move(lane, index)`, which changes a copy of it.
template <class Move> Lanes each(const Lanes &lanes, Move move) {
  Lanes moved;
  for (const std::vector<symbolic::IndexForm> &lane : lanes) {
    moved.push_back(lane);
    move(lane, moved.back());
  }
  return moved;
}

symbolic::IndexForm plus(symbolic::IndexMath &math, const symbolic::IndexForm &form,
                         std::int64_t value) {
  return math.add(form, symbolic::IndexMath::constant(value));
}

Shape dims_of(const Node &node) { return *list_attribute(node, "dims"); }

Lanes same(symbolic::IndexMath &, const Node &, const Shape &, const Lanes &lanes) { return lanes; }

ViewSource reshape_source(symbolic::IndexMath &math, const Node &node, const Shape &operand,
                          const Lanes &lanes) {
  return {reshaped(math, lanes, node.type().shape, operand)};
}
Lanes reshape_result(symbolic::IndexMath &math, const Node &node, const Shape &operand,
                     const Lanes &lanes) {
  return reshaped(math, lanes, operand, node.type().shape);
}

ViewSource permute_source(symbolic::IndexMath &, const Node &node, const Shape &,
                          const Lanes &lanes) {
  return {each(lanes, [dims = dims_of(node)](const auto &lane, auto &index) {
    for (std::size_t d = 0; d < dims.size(); ++d)
      index[dims[d]] = lane[d];
  })};
}
Lanes permute_result(symbolic::IndexMath &, const Node &node, const Shape &, const Lanes &lanes) {
  return each(lanes, [dims = dims_of(node)](const auto &lane, auto &index) {
    for (std::size_t d = 0; d < dims.size(); ++d)
      index[d] = lane[dims[d]];
  });
}

ViewSource expand_source(symbolic::IndexMath &, const Node &, const Shape &operand,
                         const Lanes &lanes) {
  return {each(lanes, [&](const auto &lane, auto &index) {
    index.assign(lane.end() - static_cast<std::ptrdiff_t>(operand.size()), lane.end());
    for (std::size_t d = 0; d < operand.size(); ++d)
      if (operand[d] == 1)
        index[d] = symbolic::IndexMath::constant(0);
  })};
}

ViewSource slice_source(symbolic::IndexMath &math, const Node &node, const Shape &,
                        const Lanes &lanes) {
  const std::size_t dim = integer_attribute(node, "dim");
  return {each(lanes, [&](const auto &lane, auto &index) {
    index[dim] = plus(math, math.scale(lane[dim], integer_attribute(node, "step", 1)),
                      integer_attribute(node, "start"));
  })};
}

Lanes flip_result(symbolic::IndexMath &math, const Node &node, const Shape &operand,
                  const Lanes &lanes) {
  return each(lanes, [&](const auto &lane, auto &index) {
    for (const std::int64_t dim : dims_of(node))
      index[dim] =
          math.add(symbolic::IndexMath::constant(operand[dim] - 1), math.scale(lane[dim], -1));
  });
}
ViewSource flip_source(symbolic::IndexMath &math, const Node &node, const Shape &operand,
                       const Lanes &lanes) {
  return {flip_result(math, node, operand, lanes)};
}

/// @param sign 1: to where elements are moved; -1: from where they come
Lanes rolled(symbolic::IndexMath &math, const Node &node, const Shape &operand, const Lanes &lanes,
             std::int64_t sign) {
  const Shape dims = dims_of(node), shifts = *list_attribute(node, "shifts");
  return each(lanes, [&](const auto &lane, auto &index) {
    for (std::size_t d = 0; d < dims.size(); ++d) {
      const std::int64_t size = operand[dims[d]], shift = (shifts[d] % size + size) % size;
      index[dims[d]] =
          math.modulo(plus(math, lane[dims[d]], sign > 0 ? shift : size - shift), size);
    }
  });
}
Lanes roll_result(symbolic::IndexMath &math, const Node &node, const Shape &operand,
                  const Lanes &lanes) {
  return rolled(math, node, operand, lanes, 1);
}
ViewSource roll_source(symbolic::IndexMath &math, const Node &node, const Shape &operand,
                       const Lanes &lanes) {
  return {rolled(math, node, operand, lanes, -1)};
}

/// Nearest neighbors by whole factors.
ViewSource upsample_source(symbolic::IndexMath &math, const Node &node, const Shape &operand,
                           const Lanes &lanes) {
  return {each(lanes, [&](const auto &lane, auto &index) {
    for (std::size_t d = 0; d < operand.size(); ++d)
      index[d] = math.divide(lane[d], std::max<std::int64_t>(node.type().shape[d] / operand[d], 1));
  })};
}

/// The operand's other dimensions come first in the result, then the diagonal's.
ViewSource diagonal_source(symbolic::IndexMath &math, const Node &node, const Shape &operand,
                           const Lanes &lanes) {
  const std::size_t dim1 = integer_attribute(node, "dim1", 0),
                    dim2 = integer_attribute(node, "dim2", 1);
  const std::int64_t offset = integer_attribute(node, "offset");
  return {each(lanes, [&](const auto &lane, auto &index) {
    index.assign(operand.size(), {});
    for (std::size_t d = 0, next = 0; d < operand.size(); ++d)
      if (d != dim1 && d != dim2)
        index[d] = lane[next++];
    index[dim1] = plus(math, lane.back(), std::max<std::int64_t>(-offset, 0));
    index[dim2] = plus(math, lane.back(), std::max<std::int64_t>(offset, 0));
  })};
}

ViewSource pad_source(symbolic::IndexMath &math, const Node &node, const Shape &operand,
                      const Lanes &lanes) {
  const Shape low = list_attribute(node, "low", operand.size(), 0);
  ViewSource source;
  for (const auto &lane : lanes) {
    auto &index = source.lanes.emplace_back();
    auto &guards = source.guards.emplace_back();
    for (std::size_t d = 0; d < lane.size(); ++d) {
      index.push_back(plus(math, lane[d], -low[d]));
      guards.push_back({index[d], 0, operand[d] - 1});
    }
  }
  return source;
}

/// Returns column - row.
symbolic::IndexForm from_diagonal(symbolic::IndexMath &math,
                                  const std::vector<symbolic::IndexForm> &lane) {
  return math.add(lane[lane.size() - 1], math.scale(lane[lane.size() - 2], -1));
}

ViewSource triu_source(symbolic::IndexMath &math, const Node &node, const Shape &,
                       const Lanes &lanes) {
  ViewSource source{lanes, {}, true};
  for (const auto &lane : lanes)
    source.guards.push_back({{from_diagonal(math, lane), integer_attribute(node, "diagonal"),
                              symbolic::Interval::kInfinity}});
  return source;
}

ViewSource tril_source(symbolic::IndexMath &math, const Node &node, const Shape &,
                       const Lanes &lanes) {
  ViewSource source{lanes, {}, true};
  for (const auto &lane : lanes)
    source.guards.push_back({{from_diagonal(math, lane), -symbolic::Interval::kInfinity,
                              integer_attribute(node, "diagonal")}});
  return source;
}

ViewSource diag_embed_source(symbolic::IndexMath &math, const Node &, const Shape &,
                             const Lanes &lanes) {
  ViewSource source{each(lanes, [](const auto &, auto &index) { index.pop_back(); })};
  for (const auto &lane : lanes)
    source.guards.push_back({{from_diagonal(math, lane), 0, 0}});
  return source;
}

Op moving(Op op) {
  op.moves = true;
  return op;
}

/// Marks a view that moves its operand's elements by strides alone.
Op strided(Op op, InMemory place) {
  op.strided = place;
  op.moves = true;
  return op;
}

bool reshape_place(const Node &node, StridedPlace &place) {
  const auto changed = reshaped_strides(place.shape, place.strides, node.type().shape);
  if (changed)
    place.strides = *changed;
  return changed.has_value();
}

bool permute_place(const Node &node, StridedPlace &place) {
  const Shape dims = dims_of(node), from = place.strides;
  for (std::size_t d = 0; d < dims.size(); ++d)
    place.strides[d] = from[dims[d]];
  return true;
}

bool expand_place(const Node &node, StridedPlace &place) {
  const Shape &shape = node.type().shape;
  Shape wide(shape.size(), 0);
  const std::size_t lead = shape.size() - place.shape.size();
  for (std::size_t d = 0; d < place.shape.size(); ++d)
    wide[lead + d] = place.shape[d] == shape[lead + d] ? place.strides[d] : 0;
  place.strides = std::move(wide);
  return true;
}

bool slice_place(const Node &node, StridedPlace &place) {
  const std::size_t dim = integer_attribute(node, "dim");
  place.offset += integer_attribute(node, "start") * place.strides[dim];
  place.strides[dim] *= integer_attribute(node, "step", 1);
  return true;
}

Op indexed(std::string_view name, InferTypes infer, std::vector<AttributeRule> attributes = {}) {
  return {.name = name,
          .kind = Kind::Indexed,
          .least_operands = 2,
          .most_operands = 2,
          .attributes = std::move(attributes),
          .infer = infer,
          .recompute = Address,
          .bounds = first,
          .selects = true};
}

Op scatter(std::string_view name, CallLibrary library) {
  return {.name = name,
          .kind = Kind::Scatter,
          .least_operands = 3,
          .most_operands = 3,
          .attributes = {{"dim", Integer}},
          .infer = infer::scatter,
          .library = library,
          .selects = true};
}

/// Without `include_self`, elements of the first operand count only where nothing is combined with them.
Op scattered_extreme(std::string_view name) {
  Op op = scatter(name, library::scatter_extreme);
  op.attributes.push_back({"include_self", Flag, false});
  return op;
}

} // namespace

const std::vector<Op> kViews = {
    strided(view("reshape", infer::reshape, reshape_source, reshape_result)
                .for_example("%y: f32[24] = reshape(%m)"),
            reshape_place),
    strided(view("permute", infer::permute, permute_source, permute_result, {{"dims", List}})
                .for_example("%y: f32[6,4]@[1,6] = permute(%m) {dims=[1,0]}"),
            permute_place),
    strided(view("expand", infer::expand, expand_source, nullptr)
                .for_example("%y: f32[2,4,6]@[0,6,1] = expand(%m)"),
            expand_place),
    selecting(strided(
        view("slice", infer::slice, slice_source, nullptr,
             {{"dim", Integer}, {"start", Integer}, {"stop", Integer}, {"step", Integer, false}})
            .for_example("%y: f32[4,2]@[6,2] = slice(%m) {dim=1, start=1, stop=5, step=2}"),
        slice_place)),
    moving(view("flip", infer::flip, flip_source, flip_result, {{"dims", List}})
               .for_example("%y: f32[4,6] = flip(%m) {dims=[1]}")),
    moving(view("roll", infer::roll, roll_source, roll_result, {{"shifts", List}, {"dims", List}})
               .for_example("%y: f32[4,6] = roll(%m) {shifts=[1,-1], dims=[0,1]}")),
    moving(view("upsample_nearest", infer::upsample_nearest, upsample_source, nullptr,
                {{"scales", List}})
               .for_example("%y: f32[2,6,8,18] = upsample_nearest(%x) {scales=[1,2]}")),
    {.name = "cat",
     .kind = Kind::View,
     .least_operands = 1,
     .most_operands = kAnyNumber,
     .attributes = {{"dim", Integer}},
     .infer = infer::cat,
     .bounds =
         [](const Node &, std::span<const Bounds> operands) {
           Bounds all = operands[0];
           for (const Bounds &one : operands)
             all = bounds::hull(all, one);
           return all;
         },
     .example = "%y: f32[4,12] = cat(%m, %m) {dim=1}"},
    selecting(view("pad", infer::pad, pad_source, nullptr,
                   {{"low", List}, {"high", List}, {"value", Number, false}},
                   [](const Node &node, std::span<const Bounds> x) {
                     const double value = number_attribute(node, "value");
                     return bounds::hull(x[0], {value, value});
                   })
                  .for_example("%y: f32[7,4] = pad(%m) {low=[1,-1], high=[2,-1], value=0.5}")),
    selecting(view("triu", infer::triangle, triu_source, same, {{"diagonal", Integer, false}},
                   first_or_zero)
                  .for_example("%y: f32[4,6] = triu(%m) {diagonal=1}")),
    selecting(view("tril", infer::triangle, tril_source, same, {{"diagonal", Integer, false}},
                   first_or_zero)
                  .for_example("%y: f32[4,6] = tril(%m)")),
    selecting(view("diagonal", infer::diagonal, diagonal_source, nullptr,
                   {{"offset", Integer, false}, {"dim1", Integer}, {"dim2", Integer}})
                  .for_example("%y: f32[2,9,6] = diagonal(%x) {offset=1, dim1=1, dim2=2}")),
    view("diag_embed", infer::diag_embed, diag_embed_source, nullptr, {}, first_or_zero)
        .for_example("%y: f32[4,6,6] = diag_embed(%m)"),

    indexed("gather", infer::gather, {{"dim", Integer}})
        .for_example("%y: f32[4,2] = gather(%m, %i) {dim=1}"),
    indexed("index_select", infer::index_select, {{"dim", Integer}})
        .for_example("%y: f32[3,6] = index_select(%m, %j) {dim=0}"),
    indexed("embedding", infer::embedding).for_example("%y: f32[4,2,6] = embedding(%m, %i)"),
    scatter("scatter_add", library::scatter_add)
        .for_example("%y: f32[4,6] = scatter_add(%m, %i, %m) {dim=1}"),
    scattered_extreme("scatter_amax").for_example("%y: f32[4,6] = scatter_amax(%m, %i, %m) {dim=1}"),
    scattered_extreme("scatter_amin")
        .for_example("%y: f32[4,6] = scatter_amin(%m, %i, %m) {dim=1, include_self=false}"),
};

} // namespace warpwright::ops::table
