// Convolutions as products; see implicit_gemm.h.
#include "generator/families/matmul/implicit_gemm.h"

#include "arch/generations.h"
#include "generator/elements/memory_view.h"
#include "generator/elements/tensor_map.h"
#include "generator/elements/window_text.h"
#include "generator/families/matmul/matmul_guess.h"
#include "generator/families/matmul/matmul_text.h"
#include "generator/ops/attributes.h"
#include "generator/ops/names.h"
#include "generator/ops/scalar_ops.h"

#include <algorithm>

namespace warpwright::families::matmul {
namespace {

using elements::ConvolutionShape;
using model::Shape;

/// Elements in 16 bytes, in multiples of which memory is described.
std::int64_t map_unit(model::Dtype dtype) {
  return 16 / static_cast<std::int64_t>(model::size_bytes(dtype));
}
constexpr char kAxes[] = {'D', 'H', 'W'}; ///< in the order of ConvolutionShape

/// Last position of the window's first tap, relative to the last element.
std::int64_t last_position(const ConvolutionShape &shape, std::size_t axis) {
  return shape.padding[axis] - (shape.kernel[axis] - 1) * shape.dilation[axis];
}

/// Returns true if cuTensorMapEncodeIm2col accepts the window, and if the offsets of all taps fit into
/// the 16 bits that a copy has for them.
bool fits_map(const ConvolutionShape &shape) {
  constexpr std::int64_t kMostSteps = 8;
  const std::int64_t reach = shape.spatial == 2 ? 1 << 7 : 1 << 4;
  for (std::size_t axis = 3 - shape.spatial; axis < 3; ++axis)
    if (shape.padding[axis] > reach || last_position(shape, axis) < -reach ||
        last_position(shape, axis) >= reach ||
        (shape.kernel[axis] - 1) * shape.dilation[axis] >= 2 * reach ||
        shape.stride[axis] > kMostSteps)
      return false;
  return true;
}

bool claims(const ops::GraphIndex &index, const model::Node &anchor) {
  const auto shape = elements::convolution_shape(index, anchor);
  const auto is_of_type = [&](const std::string &input) {
    return index.node(input).type().dtype == anchor.type().dtype;
  };
  return shape && shape->spatial >= 2 && !shape->transposed && shape->groups == 1 && !shape->bias &&
         (ops::is_half(anchor.type().dtype) || anchor.type().dtype == model::Dtype::Float32) &&
         std::ranges::all_of(anchor.inputs, is_of_type) &&
         shape->channels_in() % map_unit(anchor.type().dtype) == 0 && fits_map(*shape) &&
         model::elements_of(anchor.type().shape) < (std::int64_t{1} << 31);
}

bool runs_on(const elements::DeviceFacts &device, const MatmulProblem &problem) {
  return device.tensor_cores == arch::TensorCores::Wgmma &&
         (device.tf32 || problem.dtype != model::Dtype::Float32);
}

double estimate(const ops::GraphIndex &index, const model::Node &anchor,
                const elements::DeviceFacts &device) {
  constexpr double kNever = 1e12;
  const auto problem =
      window_problem(index, elements::region_of(index, {anchor.name}, anchor.name));
  return problem && runs_on(device, *problem) ? matmul_microseconds(*problem, device) : kNever;
}

std::vector<elements::Configuration> configurations(const ops::GraphIndex &index,
                                                    const elements::Region &region,
                                                    const elements::DeviceFacts &device) {
  constexpr int kTf32 = 2; // "math", as of other convolutions
  const auto problem = window_problem(index, region);
  if (!problem || !runs_on(device, *problem))
    return {};
  std::vector<elements::Configuration> result = matmul_configurations(*problem, device);
  if (problem->dtype == model::Dtype::Float32)
    for (elements::Configuration &one : result)
      one["math"] = kTf32;
  return result;
}

Result<elements::Lowering> lower(const ops::GraphIndex &index, const elements::Region &region,
                                 const elements::Configuration &configuration,
                                 const elements::DeviceFacts &device, const std::string &prefix) {
  const MatmulProblem problem = TRY(window_problem(index, region));
  if (!runs_on(device, problem))
    return fail("this device or the reference's accuracy has no such tensor cores");
  return lower_matmul_half(index, region, problem, configuration, device, prefix);
}

/// An operand of (first, C, spatial...) in memory with its channels side by side.
/// Errors: it lies otherwise.
Result<elements::MemoryView> channels_last_view(const ops::GraphIndex &index,
                                                const elements::Region &region,
                                                const std::string &value) {
  const std::int64_t unit = map_unit(index.node(value).type().dtype);
  elements::MemoryView view = elements::view_of(index, value, region.strides);
  bool fits = std::ranges::find(region.inputs, view.root) != region.inputs.end() &&
              view.offset % unit == 0 && view.strides[1] == 1;
  for (std::size_t d = 0; d < view.shape.size(); ++d)
    if (d != 1 && view.shape[d] == 1)
      view.strides[d] = view.shape[1]; // of one element, any stride will do
    else if (d != 1)
      fits = fits && view.strides[d] > 0 && view.strides[d] % unit == 0;
  if (!fits)
    return fail(value + " does not lie channels-last in memory, at multiples of 16 bytes");
  return view;
}

} // namespace

Result<MatmulProblem> window_problem(const ops::GraphIndex &index, const elements::Region &region) {
  const model::Node &node = index.node(region.anchor);
  if (!claims(index, node))
    return fail("'" + node.name + "' is not a convolution that tensor maps can describe");
  MatmulProblem problem;
  const ConvolutionShape shape = *elements::convolution_shape(index, node);
  problem.window = WindowOperand{shape, node.type().dtype, node.inputs[0], node.inputs[1]};
  const Shape &out = node.type().shape;
  problem.row_dims = out;
  problem.row_dims.erase(problem.row_dims.begin() + 1);
  problem.rows = model::elements_of(problem.row_dims);
  problem.columns = out[1];
  problem.depth = shape.taps() * shape.channels_in();
  problem.dtype = node.type().dtype;
  problem.type = ops::compute_type_of(problem.dtype);
  describe_epilogue(index, region, problem);
  return problem;
}

std::int64_t stages_of_tap(const WindowOperand &window) {
  return elements::ceil_divide(window.shape.channels_in(), elements_of_stage(window.dtype));
}

std::vector<std::pair<std::string, std::int64_t>> window_constants(const WindowOperand &window) {
  const ConvolutionShape &shape = window.shape;
  std::vector<std::pair<std::string, std::int64_t>> constants{
      {"kWindow", static_cast<std::int64_t>(shape.spatial)}, {"kTapChunks", stages_of_tap(window)}};
  for (std::size_t axis = 0; axis < 3; ++axis)
    for (const auto &[name, value] : {std::pair{"kOut", shape.out[axis]},
                                      {"kStep", shape.stride[axis]},
                                      {"kFirst", -shape.padding[axis]},
                                      {"kDilation", shape.dilation[axis]},
                                      {"kKernel", shape.kernel[axis]}})
      constants.emplace_back(std::string(name) + kAxes[axis], value);
  return constants;
}

Result<model::BufferArgument> image_map(const ops::GraphIndex &index,
                                        const elements::Region &region, const WindowOperand &window,
                                        std::int64_t positions) {
  const elements::MemoryView view = TRY(channels_last_view(index, region, window.image));
  const ConvolutionShape &shape = window.shape;
  model::TensorMap map{.box = {elements_of_stage(window.dtype), positions}, .swizzle_bytes = 128};
  map.rounds_to_tf32 = window.dtype == model::Dtype::Float32;
  map.window.emplace();
  map.extents.emplace_back(view.shape[1]);
  for (std::size_t d = view.shape.size(); d-- > 2;) {
    const std::size_t axis = d + 1 - shape.spatial;
    map.extents.emplace_back(view.shape[d]);
    map.strides.emplace_back(view.strides[d]);
    map.window->first.push_back(-shape.padding[axis]);
    map.window->last.push_back(last_position(shape, axis));
    map.window->steps.push_back(shape.stride[axis]);
  }
  map.extents.emplace_back(view.shape[0]);
  map.strides.emplace_back(view.strides[0]);
  return model::BufferArgument{view.root, symbolic::Expression(view.offset), std::move(map)};
}

Result<model::BufferArgument> filter_map(const ops::GraphIndex &index,
                                         const elements::Region &region,
                                         const WindowOperand &window, std::int64_t outputs) {
  const elements::MemoryView view = TRY(channels_last_view(index, region, window.filter));
  const auto taps = elements::merged(Shape(view.shape.begin() + 2, view.shape.end()),
                           Shape(view.strides.begin() + 2, view.strides.end()));
  if (!taps)
    return fail("the taps of " + window.filter + " are not evenly spaced in memory");
  const std::int64_t unit = map_unit(window.dtype);
  model::TensorMap map{.box = {elements_of_stage(window.dtype), outputs, 1, 1},
                       .swizzle_bytes = 128};
  map.rounds_to_tf32 = window.dtype == model::Dtype::Float32;
  for (const std::int64_t extent :
       {view.shape[1], view.shape[0], window.shape.taps(), std::int64_t{1}})
    map.extents.emplace_back(extent);
  for (const std::int64_t stride : {view.strides[0], std::max(*taps, unit), unit})
    map.strides.emplace_back(stride);
  return model::BufferArgument{view.root, symbolic::Expression(view.offset), std::move(map)};
}

const elements::Family kImplicitGemmFamily{.name = "implicit_gemm",
                                           .claims = claims,
                                           .takes_prologue = true,
                                           .takes_epilogue = true,
                                           .configurations = configurations,
                                           .lower = lower,
                                           .estimate = estimate,
                                           .channels_last = true,
                                           .strided_operands = 2};

} // namespace warpwright::families::matmul
