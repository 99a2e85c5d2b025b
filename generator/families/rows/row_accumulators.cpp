#include "generator/families/rows/row_accumulators.h"

namespace warpwright::families::rows {

const char *row_prelude() {
  return
#include "generator/device/rows.cuh.inc"
      ;
}

const char *row_cluster_prelude() {
  return
#include "generator/device/row_clusters.cuh.inc"
      ;
}

const char *row_gang_prelude() {
  return
#include "generator/device/row_gangs.cuh.inc"
      ;
}

} // namespace warpwright::families::rows
