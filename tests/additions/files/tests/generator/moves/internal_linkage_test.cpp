// internal_linkage: the exact text it makes, and what it refuses.
#include "tests/generator/check_move.h"

using namespace warpwright::test;

TEST_CASE("internal_linkage: the kernel becomes static") {
  check_move("__global__ void ^one(float *x) { x[threadIdx.x] = 1; }\n"
             "void run(float *x) { one<<<1, 32>>>(x); }\n",
             "internal_linkage()",
             "__global__ void static one(float *x) { x[threadIdx.x] = 1; }\n"
             "void run(float *x) { one<<<1, 32>>>(x); }\n");
}

TEST_CASE("internal_linkage: a static kernel is refused") {
  check_refused("static __global__ void ^one(float *x) { x[threadIdx.x] = 1; }\n"
                "void run(float *x) { one<<<1, 32>>>(x); }\n",
                "internal_linkage()", "the kernel is static already");
}
