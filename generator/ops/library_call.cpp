#include "generator/ops/library_call.h"

#include "generator/ops/attributes.h"
#include "generator/ops/names.h"

namespace warpwright::ops::library {
namespace {

using model::AtenArgument;
using model::AtenStep;
using model::Shape;
using model::TensorView;
using Step = Result<AtenStep>;

AtenStep step(std::string name, std::vector<AtenArgument> arguments,
              std::map<std::string, AtenArgument> keywords = {}) {
  return {std::move(name), std::move(arguments), std::move(keywords), {}};
}

AtenArgument input_or_none(const LibraryCall &call, std::size_t i) {
  return i < call.inputs.size() ? AtenArgument(call.inputs[i]) : AtenArgument(std::monostate{});
}

const Shape &shape_of(const LibraryCall &call) { return call.inputs.at(0).shape; }
std::size_t spatial(const LibraryCall &call) { return shape_of(call).size() - 2; }
Shape list(const LibraryCall &call, const char *name, std::int64_t fallback) {
  return list_attribute(call.node, name, spatial(call), fallback);
}
/// Returns a name with the number of dimensions, such as "aten::max_pool2d".
std::string dimensional(const LibraryCall &call) {
  return "aten::" + call.node.op + std::to_string(spatial(call)) + "d";
}
Shape dims_of(const LibraryCall &call) { return reduced_dims(call.node, shape_of(call).size()); }
bool keepdim(const LibraryCall &call) { return flag_attribute(call.node, "keepdim"); }
double epsilon(const LibraryCall &call) { return number_attribute(call.node, "eps", 1e-5); }

/// Appends the operands after the first, with None for those that `absent` names.
void append_optional(const LibraryCall &call, std::initializer_list<const char *> names,
                     AtenStep &step) {
  std::size_t next = 1;
  for (const char *name : names)
    step.arguments.push_back(is_absent(call.node, name) ? AtenArgument(std::monostate{})
                                                        : input_or_none(call, next++));
}

AtenStep along_dims(const LibraryCall &call, std::string name) {
  return step(std::move(name), {call.inputs[0], dims_of(call), keepdim(call)});
}

} // namespace

Step convolution(const LibraryCall &call) {
  return step("aten::convolution",
              {call.inputs[0], call.inputs[1], input_or_none(call, 2), list(call, "stride", 1),
               list(call, "padding", 0), list(call, "dilation", 1),
               flag_attribute(call.node, "transposed"), list(call, "output_padding", 0),
               integer_attribute(call.node, "groups", 1)});
}

AtenStep convolution_with_relu(const LibraryCall &call, const std::optional<TensorView> &residual) {
  AtenStep made = step("aten::cudnn_convolution_relu", {call.inputs[0], call.inputs[1]});
  if (residual) {
    made.op = "aten::cudnn_convolution_add_relu";
    made.arguments.insert(made.arguments.end(), {*residual, 1.0}); // the factor of the residual
  }
  for (AtenArgument argument :
       {AtenArgument(call.inputs[2]), AtenArgument(list(call, "stride", 1)),
        AtenArgument(list(call, "padding", 0)), AtenArgument(list(call, "dilation", 1)),
        AtenArgument(integer_attribute(call.node, "groups", 1))})
    made.arguments.push_back(std::move(argument));
  return made;
}

Step attention(const LibraryCall &call) {
  if (number_attribute(call.node, "softcap", 0) != 0)
    return fail("PyTorch's attention caps no scores");
  AtenStep made = step("aten::scaled_dot_product_attention",
                       {call.inputs[0], call.inputs[1], call.inputs[2], input_or_none(call, 3), 0.0,
                        flag_attribute(call.node, "causal")});
  if (find_attribute(call.node, "scale"))
    made.keywords["scale"] = number_attribute(call.node, "scale");
  return made;
}

Step scatter_add(const LibraryCall &call) {
  return step("aten::scatter_add", {call.inputs[0], integer_attribute(call.node, "dim"),
                                    call.inputs[1], call.inputs[2]});
}

Step scatter_extreme(const LibraryCall &call) {
  return step("aten::scatter_reduce.two",
              {call.inputs[0], integer_attribute(call.node, "dim"), call.inputs[1], call.inputs[2],
               call.node.op == op::scatter_amax ? "amax" : "amin"},
              {{"include_self", flag_attribute(call.node, "include_self", true)}});
}

Step sum(const LibraryCall &call) { return along_dims(call, "aten::sum.dim_IntList"); }
Step mean(const LibraryCall &call) { return along_dims(call, "aten::mean.dim"); }
Step any(const LibraryCall &call) { return along_dims(call, "aten::any.dims"); }
Step all(const LibraryCall &call) { return along_dims(call, "aten::all.dims"); }
Step reduction(const LibraryCall &call) { return along_dims(call, "aten::" + call.node.op); }

Step prod(const LibraryCall &call) {
  const Shape dims = dims_of(call);
  if (dims.size() != 1)
    return fail("ATen's prod takes one dimension");
  return step("aten::prod.dim_int", {call.inputs[0], dims[0], keepdim(call)});
}

Step var(const LibraryCall &call) {
  return step("aten::var.correction", {call.inputs[0], dims_of(call)},
              {{"correction", number_attribute(call.node, "correction", 1)},
               {"keepdim", keepdim(call)}});
}

Step norm(const LibraryCall &call) {
  return step("aten::linalg_vector_norm", {call.inputs[0], number_attribute(call.node, "p", 2),
                                           dims_of(call), keepdim(call)});
}

Step arg_reduction(const LibraryCall &call) {
  const auto dims = list_attribute(call.node, "dims");
  const AtenArgument dim = dims && dims->size() == 1 ? AtenArgument(dims->front())
                                                     : AtenArgument(std::monostate{});
  return step("aten::" + call.node.op, {call.inputs[0], dim, keepdim(call)});
}

Step softmax(const LibraryCall &call) {
  return step("aten::_" + call.node.op,
              {call.inputs[0], integer_attribute(call.node, "dim"), false});
}

Step layer_norm(const LibraryCall &call) {
  Shape normalized;
  for (const std::int64_t dim : dims_of(call))
    normalized.push_back(shape_of(call)[static_cast<std::size_t>(dim)]);
  AtenStep made = step("aten::layer_norm", {call.inputs[0], normalized});
  append_optional(call, {"weight", "bias"}, made);
  made.arguments.push_back(epsilon(call));
  return made;
}

Step group_norm(const LibraryCall &call) {
  AtenStep made =
      step("aten::group_norm", {call.inputs[0], integer_attribute(call.node, "groups", 1)});
  append_optional(call, {"weight", "bias"}, made);
  made.arguments.push_back(epsilon(call));
  return made;
}

Step batch_norm(const LibraryCall &call) {
  const bool training = flag_attribute(call.node, "training");
  if (training && call.node.types.size() > 1)
    return fail("running statistics are updated by families only");
  AtenStep made = step("aten::batch_norm", {call.inputs[0]});
  append_optional(call, {"weight", "bias", "running_mean", "running_var"}, made);
  for (AtenArgument argument :
       {AtenArgument(training), AtenArgument(number_attribute(call.node, "momentum", 0.1)),
        AtenArgument(epsilon(call)), AtenArgument(true)})
    made.arguments.push_back(std::move(argument));
  return made;
}

Step scan(const LibraryCall &call) {
  return step("aten::" + call.node.op, {call.inputs[0], integer_attribute(call.node, "dim")});
}

Step topk(const LibraryCall &call) {
  const std::int64_t k = integer_attribute(call.node, "k"),
                     dim = integer_attribute(call.node, "dim");
  const bool largest = flag_attribute(call.node, "largest"),
             sorted = flag_attribute(call.node, "sorted");
  const bool all = sorted && call.node.type().shape == call.inputs[0].shape;
  AtenStep made = all ? step("aten::sort", {call.inputs[0], dim, largest})
                      : step("aten::topk", {call.inputs[0], k, dim, largest, sorted});
  made.results.emplace_back();
  return made;
}

Step max_pool(const LibraryCall &call) {
  return step(dimensional(call),
              {call.inputs[0], list(call, "kernel", 1), list(call, "stride", 1),
               list(call, "padding", 0), list(call, "dilation", 1),
               flag_attribute(call.node, "ceil")});
}

Step avg_pool(const LibraryCall &call) {
  AtenStep made =
      step(dimensional(call), {call.inputs[0], list(call, "kernel", 1), list(call, "stride", 1),
                               list(call, "padding", 0), flag_attribute(call.node, "ceil"),
                               flag_attribute(call.node, "count_include_pad", true)});
  // avg_pool1d has no divisor.
  if (const std::int64_t divisor = integer_attribute(call.node, "divisor");
      divisor && spatial(call) > 1)
    made.arguments.push_back(divisor);
  return made;
}

Step resize(const LibraryCall &call) {
  const Shape &to = call.node.type().shape;
  return step(dimensional(call),
              {call.inputs[0],
               Shape(to.end() - static_cast<std::ptrdiff_t>(spatial(call)), to.end())});
}

} // namespace warpwright::ops::library
