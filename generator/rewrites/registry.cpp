// The table of rules. For a node the first that matches is applied, so cheap clean-ups come first.
#include "generator/rewrites/rules.h"

namespace warpwright::generator {

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
      {"matmul-triangle", kAlways, triangle_hints},
  };
  return kRules;
}

} // namespace warpwright::generator
