// What moves elements into a new tensor, makes one from nothing, or changes its dtype.
#include "generator/torch_cpp/operators.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace warpwright::generator::torch_cpp {
namespace {

using model::Dtype;
using model::Shape;

/// Of a table of places in a constant.
constexpr std::int64_t kMostPlaces = 65536;

Value cat(Call &call) {
  GraphWriter &graph = call.graph;
  std::vector<std::string> values = call.tensors("tensors");
  if (!call.refusal().empty())
    return call.refuse("");
  for (const std::string &value : values)
    if (graph.dtype(value) != graph.dtype(values.front()))
      return call.refuse("it joins tensors of different dtypes");
  const bool stacks = call.name == "stack";
  const std::int64_t dim = call.dim("dim", graph.rank(values.front()) + stacks, 0);
  if (stacks)
    for (std::string &value : values)
      value = graph.unsqueeze(value, dim);
  return call.made(graph.cat(std::move(values), dim));
}

Value repeat(Call &call) {
  GraphWriter &graph = call.graph;
  const std::string x = call.tensor("self");
  Shape repeats = call.list("repeats").value_or(Shape{});
  Shape shape = graph.shape(x);
  if (call.name == "tile" && repeats.size() < shape.size())
    repeats.insert(repeats.begin(), shape.size() - repeats.size(), 1);
  if (repeats.size() < shape.size())
    return call.refuse("it repeats fewer dimensions than there are");
  shape.insert(shape.begin(), repeats.size() - shape.size(), 1);
  Shape paired, grown, result;
  bool only_expands = true;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    paired.insert(paired.end(), {1, shape[i]});
    grown.insert(grown.end(), {repeats[i], shape[i]});
    result.push_back(repeats[i] * shape[i]);
    only_expands &= repeats[i] == 1 || shape[i] == 1;
  }
  if (only_expands)
    return call.made(graph.expand(graph.reshape(x, shape), result));
  return call.made(graph.reshape(graph.expand(graph.reshape(x, paired), grown), result));
}

Value repeat_interleave(Call &call) {
  GraphWriter &graph = call.graph;
  const std::string x = call.tensor("self");
  const std::int64_t repeats = call.integer("repeats", 1);
  if (call.is_tensor("repeats"))
    return call.refuse("its shape depends on data");
  Shape shape = call.has("dim") ? graph.shape(x) : Shape{graph.elements(x)};
  const std::int64_t dim = call.dim("dim", static_cast<std::int64_t>(shape.size()), 0);
  if (shape.empty() || !call.refusal().empty())
    return call.refuse("it repeats a scalar");
  Shape grown = shape, result = shape;
  grown.insert(grown.begin() + dim + 1, repeats);
  result[static_cast<std::size_t>(dim)] *= repeats;
  const std::string apart = graph.unsqueeze(graph.reshape(x, shape), dim + 1);
  return call.made(graph.reshape(graph.expand(apart, grown), result));
}

Value flip(Call &call) {
  const std::string x = call.tensor("self");
  return call.made(call.graph.unary("flip", x, {{"dims", call.dims("dims", call.graph.rank(x))}}));
}

Value roll(Call &call) {
  GraphWriter &graph = call.graph;
  const std::string x = call.tensor("self");
  Shape shifts = call.list("shifts").value_or(Shape{}), dims = call.list("dims").value_or(Shape{});
  const Shape shape = graph.shape(x);
  const bool flat = dims.empty();
  const std::string value = flat ? graph.reshape(x, {graph.elements(x)}) : x;
  if (flat)
    dims = {0};
  if (dims.size() != shifts.size())
    return call.refuse("it has not as many shifts as dimensions");
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const std::int64_t rank = graph.rank(value);
    dims[i] = dims[i] < 0 ? dims[i] + rank : dims[i];
    if (dims[i] < 0 || dims[i] >= rank)
      return call.refuse("it rolls a dimension that is not there");
    const std::int64_t extent =
        std::max<std::int64_t>(graph.shape(value)[static_cast<std::size_t>(dims[i])], 1);
    shifts[i] = ((shifts[i] % extent) + extent) % extent;
  }
  return call.made(
      graph.reshape(graph.unary("roll", value, {{"shifts", shifts}, {"dims", dims}}), shape));
}

std::int64_t reflected(std::int64_t place, std::int64_t extent) {
  const std::int64_t period = std::max<std::int64_t>(2 * (extent - 1), 1);
  place = std::abs(place) % period;
  return place >= extent ? period - place : place;
}

Value pad(Call &call) {
  GraphWriter &graph = call.graph;
  std::string x = call.tensor("self");
  const auto rank = static_cast<std::size_t>(graph.rank(x));
  const Shape given = call.list("pad").value_or(Shape{});
  if (given.size() % 2 != 0 || given.size() / 2 > rank)
    return call.refuse("its padding does not fit the dimensions");
  const auto *text = call["mode"].as<std::string>();
  const std::string mode = text ? *text : "constant";
  if (mode.ends_with("onstant")) {
    Shape low(rank, 0), high(rank, 0);
    for (std::size_t i = 0; i < given.size() / 2; ++i)
      low[rank - 1 - i] = given[2 * i], high[rank - 1 - i] = given[2 * i + 1];
    if (std::ranges::all_of(given, [](std::int64_t one) { return one == 0; }))
      return call.made(x);
    return call.made(
        graph.emit("pad", {x}, {{"low", low}, {"high", high}, {"value", call.number("value", 0)}}));
  }
  const bool reflect = mode == "reflect" || mode == "kReflect";
  if (!reflect && mode != "replicate" && mode != "kReplicate")
    return call.refuse("its mode is " + mode);
  for (const std::int64_t extent : graph.shape(x))
    if (extent < 1 || extent > kMostPlaces)
      return call.refuse("it reflects a dimension that is too long, or empty");
  for (const std::int64_t more : given)
    if (more < 0 || more > kMostPlaces)
      return call.refuse("its padding is negative or too large");
  for (std::size_t i = 0; i < given.size() / 2; ++i) {
    const auto dim = static_cast<std::int64_t>(rank - 1 - i);
    const std::int64_t extent = graph.shape(x)[rank - 1 - i];
    Shape places;
    for (std::int64_t place = -given[2 * i]; place < extent + given[2 * i + 1]; ++place)
      places.push_back(reflect ? reflected(place, extent)
                               : std::clamp(place, std::int64_t{0}, extent - 1));
    if (given[2 * i] != 0 || given[2 * i + 1] != 0)
      x = graph.index_select(x, dim, graph.index_constant(places));
  }
  return call.made(x);
}

Value pixel_shuffle(Call &call) {
  GraphWriter &graph = call.graph;
  const std::string x = call.tensor("self");
  const bool back = call.name == "pixel_unshuffle";
  const std::int64_t f = call.integer("upscale_factor", 1);
  const Shape shape = graph.shape(x);
  if (shape.size() != 4 || f < 1 || f > 1024)
    return call.refuse("it wants four dimensions and a small factor");
  const std::int64_t n = shape[0], c = shape[1], h = shape[2], w = shape[3];
  if (back)
    return call.made(graph.reshape(
        graph.permute(graph.reshape(x, {n, c, h / f, f, w / f, f}), {0, 1, 3, 5, 2, 4}),
        {n, c * f * f, h / f, w / f}));
  return call.made(graph.reshape(
      graph.permute(graph.reshape(x, {n, c / (f * f), f, f, h, w}), {0, 1, 4, 2, 5, 3}),
      {n, c / (f * f), h * f, w * f}));
}

Value full(Call &call) {
  GraphWriter &graph = call.graph;
  const bool like = call.name.ends_with("_like");
  const bool beside = like || call.name.starts_with("new_");
  const Shape shape = like ? graph.shape(call.tensor("self")) : call.list("size").value_or(Shape{});
  const bool full = call.name.contains("full") || call.name == "scalar_tensor";
  const Value value =
      full ? call["value"] : Value(std::int64_t{call.name.contains("ones") ? 1 : 0});
  Dtype dtype = beside                             ? graph.dtype(call.tensor("self"))
                : full && value.as<std::int64_t>() ? Dtype::Int64
                : full && value.as<bool>()         ? Dtype::Bool
                                                   : Dtype::Float32;
  dtype = call.dtype().value_or(dtype);
  return call.made(graph.expand(call.as_operand(value, dtype), shape));
}

/// torch::tensor({1.5, 2}).
Value tensor(Call &call) {
  GraphWriter &graph = call.graph;
  const Value &value = call["data"];
  if (value.is_number())
    return call.made(
        call.as_operand(value, call.dtype().value_or(value.as<double>() ? Dtype::Float32
                                                     : value.as<bool>() ? Dtype::Bool
                                                                        : Dtype::Int64)));
  const auto *list = value.as<List>();
  std::string text = "[";
  bool whole = true;
  for (const Value &item : list ? *list : List{}) {
    if (!item.is_number())
      return call.refuse("its values are not known here");
    whole &= !item.as<double>();
    std::array<char, 40> digits;
    std::snprintf(digits.data(), digits.size(), "%.17g", *item.number());
    std::string number = digits.data();
    if (item.as<double>() && number.find_first_of(".en") == std::string::npos)
      number += ".0";
    text += (text.size() > 1 ? "," : "") + number;
  }
  if (!list || list->empty())
    return call.refuse("its values are not known here");
  const Dtype dtype = whole ? Dtype::Int64 : Dtype::Float32;
  const std::string made = graph.stated("constant", {}, {{"values", text + "]"}},
                                        {dtype, {static_cast<std::int64_t>(list->size())}, {}});
  return call.made(graph.cast(made, call.dtype().value_or(dtype)));
}

Value arange(Call &call) {
  GraphWriter &graph = call.graph;
  const bool one = !call.has("end");
  const Value start = one ? Value(std::int64_t{0}) : call["start"],
              end = one ? call["start"] : call["end"];
  const Value step = call.has("step") ? call["step"] : Value(std::int64_t{1});
  if (!start.number() || !end.number() || !step.number() || *step.number() == 0)
    return call.refuse("its range is not known here");
  const bool real = start.as<double>() || end.as<double>() || step.as<double>();
  const auto count =
      static_cast<std::int64_t>(std::ceil((*end.number() - *start.number()) / *step.number()));
  std::string value = graph.iota(std::max<std::int64_t>(count, 0));
  if (real)
    value = graph.cast(value, Dtype::Float64);
  if (*step.number() != 1)
    value = graph.binary("mul", value, *step.number());
  if (*start.number() != 0)
    value = graph.binary("add", value, *start.number());
  return call.made(graph.cast(value, call.dtype().value_or(real ? Dtype::Float32 : Dtype::Int64)));
}

Value eye(Call &call) {
  GraphWriter &graph = call.graph;
  const std::int64_t rows = call.integer("n", 1), columns = call.integer("m", rows);
  const std::string same =
      graph.binary("eq", graph.reshape(graph.iota(rows), {rows, 1}), graph.iota(columns));
  return call.made(graph.cast(same, call.dtype().value_or(Dtype::Float32)));
}

/// Devices, layouts and copies mean nothing to a graph.
Value to(Call &call) {
  if (call.name == "type_as" || call.is_tensor("dtype"))
    return call.made(call.operand(
        "self", call.graph.dtype(call.tensor(call.name == "type_as" ? "other" : "dtype"))));
  const std::string x = call.tensor("self");
  return call.made(call.graph.cast(x, call.dtype().value_or(call.graph.dtype(x))));
}

Value half(Call &call) { return call.made(call.operand("self", Dtype::Float16)); }

/// In place, the value that the target has from then on.
Value fill(Call &call) {
  GraphWriter &graph = call.graph;
  const std::string x = call.tensor("self");
  const Value zero = std::int64_t{0};
  const std::string value =
      call.as_operand(call.name == "zero" ? zero : call["value"], graph.dtype(x));
  return call.made(graph.expand(value, graph.shape(x)));
}

constexpr std::array kOperators = {
    Operator{"cat concat stack", "tensors dim", cat},
    Operator{"repeat tile", "self repeats", repeat},
    Operator{"repeat_interleave", "self repeats dim", repeat_interleave},
    Operator{"flip", "self dims", flip},
    Operator{"roll", "self shifts dims", roll},
    Operator{"pad", "self pad mode value", pad, "pad"},
    Operator{"constant_pad_nd", "self pad value", pad},
    Operator{"pixel_shuffle pixel_unshuffle", "self upscale_factor", pixel_shuffle,
             "upscale_factor"},
    Operator{"zeros ones empty", "size dtype", full},
    Operator{"full", "size value dtype", full},
    Operator{"scalar_tensor", "value dtype", full},
    Operator{"zeros_like ones_like empty_like", "self dtype", full},
    Operator{"full_like", "self value dtype", full},
    Operator{"new_zeros new_ones new_empty", "self size dtype", full},
    Operator{"new_full", "self size value dtype", full},
    Operator{"tensor", "data dtype", tensor},
    Operator{"arange", "start end step", arange},
    Operator{"eye", "n m", eye},
    Operator{"to toType", "self dtype", to},
    Operator{"type_as", "self other", to},
    Operator{"half", "self", half},
    Operator{"fill copy", "self value", fill},
    Operator{"zero", "self", fill},
};

} // namespace

std::span<const Operator> copy_operators() { return kOperators; }

} // namespace warpwright::generator::torch_cpp
