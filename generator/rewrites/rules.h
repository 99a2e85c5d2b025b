// Rules that registry.cpp lists, by the file that holds each. docs/internals/rewrites.md says what each matches.
#pragma once

#include "generator/rewrites/rewrite.h"

namespace warpwright::rewrites {

using Match = std::optional<Replacement>(const GraphFacts &facts, const model::Node &node);

Match identity;                  // identities.cpp
Match single_element;            // single_element.cpp
Match fold_constants;            // constant_fold.cpp
Match merge_constants;           // constant_chains.cpp
Match merge_views;               // view_chains.cpp
Match share_equal_nodes;         // common.cpp
Match merge_reductions;          // reduction_chains.cpp
Match pool_as_reduction;         // reduction_chains.cpp
Match merge_pools;               // reduction_chains.cpp
Match diagonal_product;          // matmul_diagonal.cpp
Match triangle_hints;            // matmul_triangle.cpp
Match reorder_products;          // matmul_order.cpp
Match narrow_product;            // product_narrow.cpp
Match reduce_linear_map;         // reduce_linear.cpp
Match pool_linear_features;      // pool_linear.cpp
Match pool_convolution;          // conv_pool.cpp
Match pool_transposed_conv;      // conv_pool.cpp
Match drop_shift_before_norm;    // norm_shift.cpp
Match norm_of_one_element;       // norm_shift.cpp
Match inference_batch_norm;      // norm_shift.cpp
Match covering_convolution;      // conv_as_matmul.cpp
Match pointwise_convolution;     // conv_as_matmul.cpp
Match permute_late;              // permute_late.cpp
Match reshape_early;             // reshape_early.cpp
Match slice_early;               // slice_early.cpp
Match recognise_stack;           // stacks.cpp
Match stack_late;                // stacks.cpp
Match split_gated_product;       // slice_early.cpp
Match index_slices;              // index_slices.cpp
Match split_reduction;           // reduction_split.cpp
Match scan_early;                // scan_early.cpp
Match write_out_reduction;       // short_sums.cpp
Match write_out_product;         // short_sums.cpp
Match pool_before_scale;         // pool_early.cpp
Match reduce_normalised;         // reduce_norm.cpp
Match running_statistics;        // reduce_norm.cpp
Match recognise_group_norm;      // group_norm.cpp
Match fold_scale_into_weight;    // fold_scale.cpp
Match fold_into_convolution;     // conv_epilogue.cpp
Match recognise_attention;       // attention.cpp
Match recognise_causal_mask;     // causal_mask.cpp
Match decompose_attention;       // attention.cpp
Match softmax_parts;             // softmax_parts.cpp
Match phases_of_transposed_conv; // conv_phases.cpp

} // namespace warpwright::rewrites
