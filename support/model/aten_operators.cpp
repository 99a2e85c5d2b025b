#include "support/model/aten_operators.h"

#include <algorithm>
#include <optional>

namespace warpwright::model {
namespace {

/// Names of pure operators, separated by spaces; with an overload if only that one may be called.
constexpr std::string_view kPure =
    // products and convolutions
    "_addmm_activation _conv_depthwise2d _convolution _scaled_mm _trilinear addbmm addmm "
    "addmv addr baddbmm bilinear bmm chain_matmul conv1d conv2d conv3d conv_depthwise3d "
    "conv_tbc conv_transpose1d conv_transpose2d conv_transpose3d convolution "
    "convolution_overrideable cudnn_convolution cudnn_convolution_add_relu "
    "cudnn_convolution_relu cudnn_convolution_transpose dot einsum ger inner kron "
    "linalg_matrix_power linalg_multi_dot linear matmul matrix_power mkldnn_convolution mm "
    "mv outer slow_conv3d_forward slow_conv_dilated2d slow_conv_dilated3d "
    "slow_conv_transpose2d slow_conv_transpose3d tensordot thnn_conv2d vdot "
    // recurrent
    "_cudnn_rnn _cudnn_rnn_flatten_weight _thnn_fused_gru_cell _thnn_fused_lstm_cell gru "
    "gru_cell lstm lstm_cell rnn_relu rnn_relu_cell rnn_tanh rnn_tanh_cell "
    // attention
    "_native_multi_head_attention "
    "_scaled_dot_product_attention _scaled_dot_product_attention_math "
    "_scaled_dot_product_cudnn_attention _scaled_dot_product_efficient_attention "
    "_scaled_dot_product_flash_attention _scaled_dot_product_flash_attention_for_cpu "
    "_scaled_dot_product_fused_attention_overrideable _transform_bias_rescale_qkv "
    "scaled_dot_product_attention "
    // normalization
    "_batch_norm_impl_index _batch_norm_no_update _fused_rms_norm _log_softmax "
    "_masked_softmax _native_batch_norm_legit.no_stats _native_batch_norm_legit_functional "
    "_native_batch_norm_legit_no_training _safe_softmax _softmax _weight_norm "
    "_weight_norm_interface batch_norm batch_norm_elemt batch_norm_stats "
    "cudnn_batch_norm frobenius_norm group_norm instance_norm "
    "layer_norm linalg_matrix_norm linalg_norm linalg_vector_norm local_response_norm "
    "log_softmax native_batch_norm native_group_norm native_layer_norm norm norm_except_dim "
    "nuclear_norm renorm rms_norm softmax "
    // pooling and resampling
    "_adaptive_avg_pool2d _adaptive_avg_pool3d _upsample_bicubic2d_aa "
    "_upsample_bilinear2d_aa _upsample_nearest_exact1d _upsample_nearest_exact2d "
    "_upsample_nearest_exact3d adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d "
    "adaptive_max_pool1d adaptive_max_pool2d adaptive_max_pool3d affine_grid_generator "
    "avg_pool1d avg_pool2d avg_pool3d channel_shuffle col2im cudnn_affine_grid_generator "
    "cudnn_grid_sampler grid_sampler grid_sampler_2d grid_sampler_3d im2col max_pool1d "
    "max_pool1d_with_indices max_pool2d max_pool2d_with_indices max_pool3d "
    "max_pool3d_with_indices max_unpool2d max_unpool3d native_channel_shuffle pixel_shuffle "
    "pixel_unshuffle upsample_bicubic2d upsample_bilinear2d upsample_linear1d "
    "upsample_nearest1d upsample_nearest2d upsample_nearest3d upsample_trilinear3d "
    // reductions and scans
    "_cummax_helper _logcumsumexp all amax amin aminmax any argmax argmin corrcoef "
    "count_nonzero cov cross cummax cummin cumprod cumsum cumulative_trapezoid diff dist "
    "linalg_cross logcumsumexp logsumexp max mean median min mode nanmean nanmedian "
    "nanquantile nansum prod quantile std std_mean sum sum_to_size trace trapezoid var "
    "var_mean "
    // sorting and searching
    "argsort bucketize isin kthvalue msort searchsorted sort topk "
    // losses
    "_cdist_forward _ctc_loss _euclidean_dist _pdist_forward binary_cross_entropy "
    "binary_cross_entropy_with_logits cdist cosine_embedding_loss cosine_similarity "
    "cross_entropy_loss ctc_loss hinge_embedding_loss huber_loss kl_div l1_loss "
    "margin_ranking_loss mse_loss multi_margin_loss multilabel_margin_loss "
    "multilabel_margin_loss_forward nll_loss nll_loss2d nll_loss2d_forward nll_loss_forward "
    "nll_loss_nd pairwise_distance pdist poisson_nll_loss smooth_l1_loss soft_margin_loss "
    "triplet_margin_loss "
    // element by element
    "__and__ __lshift__ __or__ __rshift__ __xor__ "
    "_fake_quantize_per_tensor_affine_cachemask_tensor_qparams _prelu_kernel "
    "abs absolute acos acosh add addcdiv addcmul arccos arccosh arcsin arcsinh "
    "arctan arctan2 arctanh asin asinh atan atan2 atanh bitwise_and bitwise_left_shift "
    "bitwise_not bitwise_or bitwise_right_shift bitwise_xor ceil celu clamp clamp_max "
    "clamp_min clip copysign cos cosh deg2rad digamma div divide elu eq erf erfc erfinv exp "
    "exp2 expm1 fake_quantize_per_channel_affine fake_quantize_per_channel_affine_cachemask "
    "fake_quantize_per_tensor_affine fake_quantize_per_tensor_affine_cachemask fix float_power floor floor_divide fmax fmin fmod frac ge gelu glu greater "
    "greater_equal gt hardshrink hardsigmoid hardswish hardtanh heaviside hypot i0 igamma "
    "igammac isclose isfinite isinf isnan isneginf isposinf ldexp le leaky_relu lerp less "
    "less_equal lgamma log log10 log1p log2 log_sigmoid log_sigmoid_forward logaddexp "
    "logaddexp2 logical_and logical_not logical_or logical_xor logit lt maximum minimum mish "
    "mul multiply mvlgamma nan_to_num ne neg negative nextafter not_equal polygamma positive "
    "pow prelu rad2deg reciprocal relu relu6 remainder round rsqrt rsub selu sgn sigmoid "
    "sign signbit silu sin sinc sinh softplus softshrink special_bessel_j0 special_digamma "
    "special_entr special_erf special_erfc special_erfinv special_exp2 special_expit "
    "special_expm1 special_gammaln special_i0 special_i0e special_i1 special_log1p "
    "special_log_softmax special_logit special_ndtr special_softmax special_xlogy sqrt "
    "square sub subtract tan tanh threshold true_divide trunc where xlogy "
    // indexing
    "_embedding_bag _embedding_bag_forward_only _unsafe_index "
    "embedding gather index index_add index_copy index_fill index_put "
    "index_reduce index_select masked_fill masked_scatter one_hot put scatter scatter_add "
    "scatter_reduce take take_along_dim "
    // views, copies and layout
    "_pad_circular _pad_enum _reshape_alias _to_copy _unsafe_view alias as_strided "
    "as_strided_scatter atleast_1d atleast_2d atleast_3d block_diag broadcast_tensors "
    "broadcast_to cat chunk clone column_stack concat concatenate constant_pad_nd contiguous "
    "copy detach diag diag_embed diagflat diagonal diagonal_copy diagonal_scatter dsplit "
    "dstack expand expand_as expand_copy flatten flip fliplr flipud hsplit hstack meshgrid "
    "moveaxis movedim narrow narrow_copy numpy_T pad permute permute_copy ravel "
    "reflection_pad1d reflection_pad2d reflection_pad3d repeat replication_pad1d "
    "replication_pad2d replication_pad3d reshape reshape_as roll rot90 row_stack select "
    "select_copy select_scatter slice slice_copy slice_scatter split split_with_sizes "
    "squeeze squeeze_copy stack swapaxes swapdims t tensor_split tile to.dtype transpose "
    "transpose_copy tril triu type_as unbind unflatten unfold unsafe_chunk unsafe_split "
    "unsafe_split_with_sizes unsqueeze unsqueeze_copy view view_as vsplit vstack "
    // factories
    "arange eye full full_like linspace logspace new_full new_ones new_zeros ones ones_like "
    "scalar_tensor tril_indices triu_indices zeros zeros_like "
    // linear algebra
    "cholesky cholesky_inverse det inverse linalg_cholesky linalg_det linalg_inv "
    "linalg_matrix_exp linalg_slogdet linalg_solve_triangular logdet matrix_exp slogdet "
    "triangular_solve vander "
    // pure only under the conditions below
    "alpha_dropout dropout feature_alpha_dropout feature_dropout ";

/// Condition of a pure call: the argument `amount` is absent, None or 0, or the operator has an
/// argument `enabled` and it is false.
struct Condition {
  std::string_view op;
  int amount;
  std::string_view amount_name;
  int enabled = -1;
  std::string_view enabled_name = {};
};
constexpr Condition kConditions[] = {
    {"dropout", 1, "p", 2, "train"},
    {"feature_dropout", 1, "p", 2, "train"},
    {"alpha_dropout", 1, "p", 2, "train"},
    {"feature_alpha_dropout", 1, "p", 2, "train"},
    {"_cudnn_rnn", 11, "dropout", 12, "train"},
    {"lstm", 5, "dropout", 6, "train"},
    {"gru", 5, "dropout", 6, "train"},
    {"rnn_tanh", 5, "dropout", 6, "train"},
    {"rnn_relu", 5, "dropout", 6, "train"},
    {"batch_norm", 3, "running_mean", 5, "training"},
    {"batch_norm", 4, "running_var", 5, "training"},
    {"native_batch_norm", 3, "running_mean", 5, "training"},
    {"native_batch_norm", 4, "running_var", 5, "training"},
    {"cudnn_batch_norm", 3, "running_mean", 5, "training"},
    {"cudnn_batch_norm", 4, "running_var", 5, "training"},
    {"_batch_norm_impl_index", 3, "running_mean", 5, "training"},
    {"_batch_norm_impl_index", 4, "running_var", 5, "training"},
    {"instance_norm", 3, "running_mean", 5, "use_input_stats"},
    {"instance_norm", 4, "running_var", 5, "use_input_stats"},
    {"scaled_dot_product_attention", 4, "dropout_p"},
    {"_scaled_dot_product_attention", 4, "dropout_p"},
    {"_scaled_dot_product_attention_math", 4, "dropout_p"},
    {"_scaled_dot_product_flash_attention", 3, "dropout_p"},
    {"_scaled_dot_product_flash_attention_for_cpu", 3, "dropout_p"},
    {"_scaled_dot_product_efficient_attention", 5, "dropout_p"},
    {"_scaled_dot_product_cudnn_attention", 5, "dropout_p"},
    {"_scaled_dot_product_fused_attention_overrideable", 4, "dropout_p"}};

/// Keyword arguments that a plan may not set. The worker decides where a tensor lies.
constexpr std::string_view kForbiddenKeywords[] = {"device", "pin_memory", "out", "generator"};

bool is_listed(std::string_view name) {
  for (std::size_t at = kPure.find(name); at != std::string_view::npos;
       at = kPure.find(name, at + 1))
    if ((at == 0 || kPure[at - 1] == ' ') && kPure[at + name.size()] == ' ')
      return true;
  return false;
}

const AtenArgument *find(const AtenStep &step, int position, std::string_view name) {
  if (position >= 0 && static_cast<std::size_t>(position) < step.arguments.size())
    return &step.arguments[static_cast<std::size_t>(position)];
  const auto found = step.keywords.find(std::string(name));
  return found == step.keywords.end() ? nullptr : &found->second;
}

bool is_nothing(const AtenArgument *argument) {
  if (!argument || std::holds_alternative<std::monostate>(*argument))
    return true;
  const auto *real = std::get_if<double>(argument);
  const auto *integer = std::get_if<std::int64_t>(argument);
  return (real && *real == 0) || (integer && *integer == 0);
}

bool holds(const Condition &condition, const AtenStep &step) {
  if (is_nothing(find(step, condition.amount, condition.amount_name)))
    return true;
  if (condition.enabled < 0)
    return false;
  const AtenArgument *enabled = find(step, condition.enabled, condition.enabled_name);
  const bool *value = enabled ? std::get_if<bool>(enabled) : nullptr;
  return value && !*value;
}

} // namespace

Result<void> check_operator(const AtenStep &step) {
  const std::string remedy =
      "Plans may call the pure operators of support/model/aten_operators.cpp";
  if (!step.op.starts_with("aten::"))
    return fail("\"" + step.op + "\" is no ATen operator", remedy);
  const std::string_view full = std::string_view(step.op).substr(6);
  const std::string_view name = full.substr(0, full.find('.'));
  const std::string_view overload = name.size() == full.size() ? "" : full.substr(name.size() + 1);
  if ((!is_listed(name) && !is_listed(full)) || overload == "out" || overload.ends_with("_out"))
    return fail(step.op + " is not among the operators that a plan may call", remedy);
  for (const Condition &condition : kConditions)
    if (condition.op == name && !holds(condition, step))
      return fail(
          step.op + " with " + std::string(condition.amount_name) +
              " is random or changes its arguments",
          "Omit the drawn or updated values, and compute updates by a separate step");
  for (const std::string_view keyword : kForbiddenKeywords)
    if (step.keywords.contains(std::string(keyword)))
      return fail(step.op + ": a plan may not say \"" + std::string(keyword) + "\"",
                  "Leave it out: results are on the worker's device");
  return {};
}

} // namespace warpwright::model
