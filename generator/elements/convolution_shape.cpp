// Sizes of convolutions. See convolution_shape.h.
#include "generator/elements/convolution_shape.h"
#include "generator/ops/attributes.h"
#include "generator/ops/names.h"

namespace warpwright::elements {

std::optional<ConvolutionShape> convolution_shape(const ops::GraphIndex &index,
                                                  const model::Node &anchor) {
  if (anchor.op != op::conv || anchor.inputs.size() < 2)
    return std::nullopt;
  const model::Shape &in = index.node(anchor.inputs[0]).type().shape;
  const model::Shape &weight = index.node(anchor.inputs[1]).type().shape;
  const model::Shape &out = anchor.type().shape;
  if (in.size() < 3 || in.size() > 5 || weight.size() != in.size() || out.size() != in.size() ||
      model::elements_of(out) == 0 || model::elements_of(in) == 0 ||
      model::elements_of(weight) == 0)
    return std::nullopt;
  ConvolutionShape shape;
  shape.spatial = in.size() - 2;
  shape.batch = in[0];
  shape.groups = ops::integer_attribute(anchor, "groups", 1);
  shape.transposed = ops::flag_attribute(anchor, "transposed", false);
  shape.bias = anchor.inputs.size() > 2;
  if (shape.groups < 1 || in[1] % shape.groups != 0 || out[1] % shape.groups != 0)
    return std::nullopt;
  shape.group_in = in[1] / shape.groups;
  shape.group_out = out[1] / shape.groups;
  const model::Shape stride = ops::list_attribute(anchor, "stride", shape.spatial, 1);
  const model::Shape padding = ops::list_attribute(anchor, "padding", shape.spatial, 0);
  const model::Shape dilation = ops::list_attribute(anchor, "dilation", shape.spatial, 1);
  if (stride.size() != shape.spatial || padding.size() != shape.spatial ||
      dilation.size() != shape.spatial)
    return std::nullopt;
  for (std::size_t d = 0; d < shape.spatial; ++d) {
    const std::size_t to = 3 - shape.spatial + d;
    shape.in[to] = in[d + 2];
    shape.out[to] = out[d + 2];
    shape.kernel[to] = weight[d + 2];
    shape.stride[to] = stride[d];
    shape.padding[to] = padding[d];
    shape.dilation[to] = dilation[d];
  }
  return shape;
}

Index convolution_index(const ConvolutionShape &shape, const std::string &n, const std::string &c,
                        const std::string &d, const std::string &h, const std::string &w) {
  const std::array<std::string, 3> spatial{d, h, w};
  Index index{n, c};
  index.insert(index.end(), spatial.end() - static_cast<std::ptrdiff_t>(shape.spatial),
               spatial.end());
  return index;
}

} // namespace warpwright::elements
