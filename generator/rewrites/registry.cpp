// The table of rules. The first rule that matches a node is applied, so cheap clean-ups come first.
#include "generator/rewrites/rules.h"

namespace warpwright::rewrites {

std::span<const Rule> rules() {
  static constexpr bool kAlways = true;
  static constexpr Rule kRules[] = {
      {"identity", kAlways, identity},
      {"single-element", kAlways, single_element},
      {"constant-fold", kAlways, fold_constants},
      {"constant-chain", kAlways, merge_constants},
      {"view-chain", kAlways, merge_views},
      {"common-subexpression", kAlways, share_equal_nodes},
      {"pool-as-reduction", kAlways, pool_as_reduction},
      {"pool-chain", kAlways, merge_pools},
      {"reduction-chain", kAlways, merge_reductions},
      {"matmul-diagonal", kAlways, diagonal_product},
      {"matmul-order", kAlways, reorder_products},
      {"permute-late", kAlways, permute_late},
      {"reshape-early", kAlways, reshape_early},
      {"index-slices", kAlways, index_slices},
      {"reduction-split", kAlways, split_reduction},
      {"slice-early", kAlways, slice_early},
      {"stack", kAlways, recognise_stack},
      {"stack-late", kAlways, stack_late},
      {"scan-early", kAlways, scan_early},
      {"pool-early", kAlways, pool_before_scale},
      {"norm-shift", kAlways, drop_shift_before_norm},
      {"norm-single-element", kAlways, norm_of_one_element},
      {"batch-norm-inference", kAlways, inference_batch_norm},
      {"reduce-linear", kAlways, reduce_linear_map},
      {"group-norm", kAlways, recognise_group_norm},
      {"reduce-norm", kAlways, reduce_normalised},
      {"running-statistics", kAlways, running_statistics},
      {"pool-linear", kAlways, pool_linear_features},
      {"conv-pool", kAlways, pool_convolution},
      {"conv-transposed-pool", kAlways, pool_transposed_conv},
      {"conv-covering", kAlways, covering_convolution},
      {"attention", kAlways, recognise_attention},
      {"causal-mask", kAlways, recognise_causal_mask},
      {"matmul-triangle", kAlways, triangle_hints},
      {"softmax-parts", kAlways, softmax_parts},
      {"short-reduction", kAlways, write_out_reduction},
      {"short-product", kAlways, write_out_product},
      {"attention-decomposed", !kAlways, decompose_attention},
      {"conv-pointwise", !kAlways, pointwise_convolution},
      {"product-narrow", !kAlways, narrow_product},
      {"product-split", !kAlways, split_gated_product},
      {"conv-phases", !kAlways, phases_of_transposed_conv},
      {"fold-scale", !kAlways, fold_scale_into_weight},
      {"conv-epilogue", !kAlways, fold_into_convolution},
  };
  return kRules;
}

} // namespace warpwright::rewrites
