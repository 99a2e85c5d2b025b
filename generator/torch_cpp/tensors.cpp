// Tensors: calls of ATen's operators with their arguments bound, indexing, and what a tensor says of itself.
#include "generator/torch_cpp/interpreter.h"

#include <algorithm>
#include <set>

namespace warpwright::generator::torch_cpp {
namespace {

std::vector<std::string> words(std::string_view text) {
  std::vector<std::string> result;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t stop = std::min(text.find(' ', at), text.size());
    result.emplace_back(text.substr(at, stop - at));
    at = stop + 1;
  }
  return result;
}

Value list_of(const model::Shape &shape) {
  List list;
  for (const std::int64_t extent : shape)
    list.emplace_back(extent);
  return list;
}

/// Members that read values, which are not known here.
const std::set<std::string> kReads = {
    "item",          "data_ptr", "const_data_ptr",    "mutable_data_ptr",
    "equal",         "allclose", "is_nonzero",        "accessor",
    "nonzero",       "data",     "packed_accessor32", "packed_accessor64",
    "masked_select", "unique",   "bincount"};
const std::set<std::string> kRandom = {
    "rand",   "randn",   "randint",     "randperm",   "rand_like", "randn_like", "bernoulli",
    "normal", "uniform", "multinomial", "bernoulli_", "normal_",   "uniform_",   "random_"};

} // namespace

std::optional<Value> Interpreter::property(const Tensor &tensor, const std::string &name,
                                           const std::vector<Value> &arguments) {
  const std::string node = tensor->read();
  const model::Shape &shape = graph_.shape(node);
  const auto rank = static_cast<std::int64_t>(shape.size());
  const auto extent_of = [&](const model::Shape &of) -> Value {
    const auto dim = arguments.empty() ? std::nullopt : arguments.front().integer();
    if (!dim || *dim < -rank || *dim >= rank)
      return refuse(name + " of a dimension that is not there or not known");
    return of[static_cast<std::size_t>(*dim < 0 ? *dim + rank : *dim)];
  };
  const model::TensorType &type = graph_.node(node).type();
  if (name == "size")
    return extent_of(shape);
  if (name == "stride")
    return extent_of(model::strides_of(type));
  if (name == "sizes")
    return list_of(shape);
  if (name == "strides")
    return list_of(model::strides_of(type));
  if (name == "dim" || name == "ndimension")
    return rank;
  if (name == "numel")
    return model::elements_of(shape);
  if (name == "element_size" || name == "itemsize")
    return static_cast<std::int64_t>(model::size_bytes(type.dtype));
  if (name == "nbytes")
    return model::elements_of(shape) * static_cast<std::int64_t>(model::size_bytes(type.dtype));
  if (name == "scalar_type" || name == "dtype" || name == "type")
    return Value(type.dtype);
  if (name == "options")
    return Value(Fields{{"dtype", type.dtype}});
  if (name == "device")
    return Value(std::string("cuda"));
  if (name == "is_cuda" || name == "defined" || name == "is_non_overlapping_and_dense")
    return true;
  if (name == "is_cpu" || name == "requires_grad" || name == "is_sparse" || name == "is_complex")
    return false;
  if (name == "get_device")
    return std::int64_t{0};
  if (name == "is_floating_point")
    return model::is_floating(type.dtype);
  if (name == "is_contiguous")
    return arguments.empty() ? Value(model::is_contiguous(type))
                             : Value(unknown("a memory format is asked for"));
  if (name == "is_same_size" && arguments.size() == 1 && arguments.front().as<Tensor>())
    return shape == graph_.shape((*arguments.front().as<Tensor>())->read());
  if (name == "requires_grad_")
    return Value(tensor);
  if (name == "index" && arguments.size() == 1)
    return indexed(tensor, arguments.front());
  if (name == "index_put_" && arguments.size() == 2) {
    const Value part = indexed(tensor, arguments.front());
    return part.as<Tensor>() ? aten("copy_", {part, arguments[1]}) : part;
  }
  return std::nullopt;
}

Value Interpreter::indexed(const Tensor &tensor, const Value &index) {
  const List places = index.as<List>() ? *index.as<List>() : List{index};
  Value current = tensor;
  std::int64_t dim = 0;
  for (const Value &place : places) {
    if (!current.as<Tensor>())
      return current;
    const std::int64_t rank = graph_.rank((*current.as<Tensor>())->read());
    if (place.as<std::string>()) { // an ellipsis: what the places behind it leave
      dim = rank - std::count_if(&place + 1, places.data() + places.size(),
                                 [](const Value &later) { return !later.as<None>(); });
    } else if (place.as<None>()) {
      current = aten("unsqueeze", {current, dim++});
    } else if (const auto *slice = place.as<Slice>()) {
      const auto bound = [](std::optional<std::int64_t> value) {
        return value ? Value(*value) : Value(Absent{});
      };
      current =
          aten("slice", {current, dim++, bound(slice->start), bound(slice->stop), slice->step});
    } else if (const auto position = place.integer(); position && !place.as<bool>()) {
      current = aten("select", {current, dim, *position});
    } else {
      return unknown("a tensor is indexed with something that is no number and no slice");
    }
  }
  return current;
}

Value Interpreter::aten(const std::string &name, std::vector<Value> arguments) {
  if (kReads.contains(name))
    return unknown("'" + name + "' reads a tensor's values");
  if (kRandom.contains(name) && making_ > 0)
    return drawn_at_random(name, arguments);
  if (kRandom.contains(name))
    return refuse("the function is random: " + name);
  if (name == "ceil_div" && arguments.size() == 2 && arguments[0].integer() &&
      arguments[1].integer() && *arguments[1].integer() > 0)
    return (*arguments[0].integer() + *arguments[1].integer() - 1) / *arguments[1].integer();
  if (name == "dtype" || name == "device")
    return Fields{{"dtype", arguments.empty() ? Value() : arguments.front()}};
  for (const Value &argument : arguments)
    if (const auto *unknown = argument.as<Unknown>())
      return *unknown;
  const bool to_out = name.ends_with("_out") && !arguments.empty();
  if (to_out)
    std::ranges::rotate(arguments, arguments.begin() + 1);
  const bool in_place = name.ends_with("_") && name.size() > 1;
  const std::string function = name.substr(0, name.size() - (to_out ? 4 : in_place ? 1 : 0));
  const Operator *known = find_operator(function);
  if (!known) {
    const bool takes_tensors = std::ranges::any_of(
        arguments, [](const Value &argument) { return argument.as<Tensor>() != nullptr; });
    const Unknown why = unknown("at::" + name + " is no operator that is known here");
    return in_place && takes_tensors ? refuse(why.why) : Value(why);
  }
  const Value target = to_out ? arguments.back() : arguments.empty() ? Value() : arguments.front();
  if (to_out)
    arguments.pop_back();
  Value result = aten_bound(function, *known, std::move(arguments));
  if ((!in_place && !to_out) || stopped())
    return result;
  const auto *written = target.as<Tensor>();
  const auto *value = result.as<Tensor>();
  if (!written || !value)
    return refuse("at::" + name + " writes to something that is no tensor");
  const std::string before = (*written)->read();
  const std::string now =
      graph_.expand(graph_.cast((*value)->read(), graph_.dtype(before)), graph_.shape(before));
  if (graph_.error())
    return refuse("at::" + name + ": " + graph_.error()->message);
  if (!(*written)->write(now))
    return refuse("at::" + name + " writes to an expanded tensor");
  return target;
}

Value Interpreter::aten_bound(const std::string &name, const Operator &known,
                              std::vector<Value> arguments) {
  const std::vector<std::string> parameters = words(known.parameters);
  std::map<std::string, Value> bound;
  std::size_t position = 0;
  for (Value &argument : arguments) {
    if (const auto *fields = argument.as<Fields>()) {
      const std::vector<std::string> options = words(known.options);
      for (const auto &[key, value] : *fields)
        if (!key.starts_with("#"))
          bound[key] = value;
        else if (const std::size_t which = std::stoul(key.substr(1)); which < options.size())
          bound[options[which]] = value;
        else
          return refuse("at::" + name + ": its options are not known here");
      continue;
    }
    if (argument.as<model::Dtype>()) {
      bound["dtype"] = argument;
      continue;
    }
    if (argument.as<std::string>() && (name == "to" || name == "cuda" || name == "zeros"))
      continue; // a device
    if (position >= parameters.size()) {
      if (argument.is_given() && !argument.as<bool>() && !argument.as<std::string>())
        return refuse("at::" + name + " has more arguments than are known here");
      continue;
    }
    bound[parameters[position++]] = std::move(argument);
  }
  Call call(graph_, name, std::move(bound));
  Value result = known.handler(call);
  if (!call.refusal().empty())
    return call.refused_line() ? refuse(call.refusal(), call.refused_line())
                               : refuse("at::" + name + ": " + call.refusal());
  if (graph_.error())
    return refuse("at::" + name + ": " + graph_.error()->message);
  return result;
}

} // namespace warpwright::generator::torch_cpp
