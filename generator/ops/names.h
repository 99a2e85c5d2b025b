// Names of operators as constants, so that a misspelled name does not compile. A test checks that each has a row in
// table/.
#pragma once

namespace warpwright::op {

inline constexpr char abs[] = "abs";
inline constexpr char adaptive_avg_pool[] = "adaptive_avg_pool";
inline constexpr char adaptive_max_pool[] = "adaptive_max_pool";
inline constexpr char add[] = "add";
inline constexpr char all[] = "all";
inline constexpr char amax[] = "amax";
inline constexpr char amin[] = "amin";
inline constexpr char any[] = "any";
inline constexpr char argmax[] = "argmax";
inline constexpr char argmin[] = "argmin";
inline constexpr char aten[] = "aten";
inline constexpr char attention[] = "attention";
inline constexpr char avg_pool[] = "avg_pool";
inline constexpr char batch_norm[] = "batch_norm";
inline constexpr char cast[] = "cast";
inline constexpr char cat[] = "cat";
inline constexpr char constant[] = "constant";
inline constexpr char conv[] = "conv";
inline constexpr char cummax[] = "cummax";
inline constexpr char cummin[] = "cummin";
inline constexpr char cumprod[] = "cumprod";
inline constexpr char cumsum[] = "cumsum";
inline constexpr char diag_embed[] = "diag_embed";
inline constexpr char div[] = "div";
inline constexpr char embedding[] = "embedding";
inline constexpr char exp[] = "exp";
inline constexpr char expand[] = "expand";
inline constexpr char flip[] = "flip";
inline constexpr char gather[] = "gather";
inline constexpr char group_norm[] = "group_norm";
inline constexpr char input[] = "input";
inline constexpr char index_select[] = "index_select";
inline constexpr char iota[] = "iota";
inline constexpr char item[] = "item";
inline constexpr char layer_norm[] = "layer_norm";
inline constexpr char layout[] = "layout";
inline constexpr char layouts[] = "layouts";
inline constexpr char leaky_relu[] = "leaky_relu";
inline constexpr char log[] = "log";
inline constexpr char log_softmax[] = "log_softmax";
inline constexpr char logcumsumexp[] = "logcumsumexp";
inline constexpr char logical_and[] = "logical_and";
inline constexpr char logical_not[] = "logical_not";
inline constexpr char logical_or[] = "logical_or";
inline constexpr char logsumexp[] = "logsumexp";
inline constexpr char matmul[] = "matmul";
inline constexpr char max_pool[] = "max_pool";
inline constexpr char maximum[] = "maximum";
inline constexpr char mean[] = "mean";
inline constexpr char minimum[] = "minimum";
inline constexpr char mul[] = "mul";
inline constexpr char ne[] = "ne";
inline constexpr char neg[] = "neg";
inline constexpr char norm[] = "norm";
inline constexpr char pad[] = "pad";
inline constexpr char parameter[] = "parameter";
inline constexpr char permute[] = "permute";
inline constexpr char pow[] = "pow";
inline constexpr char prod[] = "prod";
inline constexpr char reciprocal[] = "reciprocal";
inline constexpr char relu[] = "relu";
inline constexpr char reshape[] = "reshape";
inline constexpr char roll[] = "roll";
inline constexpr char rsqrt[] = "rsqrt";
inline constexpr char scatter_add[] = "scatter_add";
inline constexpr char scatter_amax[] = "scatter_amax";
inline constexpr char scatter_amin[] = "scatter_amin";
inline constexpr char slice[] = "slice";
inline constexpr char softmax[] = "softmax";
inline constexpr char sqrt[] = "sqrt";
inline constexpr char square[] = "square";
inline constexpr char sub[] = "sub";
inline constexpr char sum[] = "sum";
inline constexpr char tanh[] = "tanh";
inline constexpr char tril[] = "tril";
inline constexpr char triu[] = "triu";
inline constexpr char upsample_nearest[] = "upsample_nearest";
inline constexpr char var[] = "var";
inline constexpr char where[] = "where";

} // namespace warpwright::op
