// The dot product of two vectors as the first attempt has it: every thread adds its product to one number in global memory.
// warpwright: len = 1048576, check len = 1 | len = 777, fill result = 0
__global__ void dot(const float *left, const float *right, float *result, int len) {
  int k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k < len) {
    atomicAdd(result, left[k] * right[k]);
  }
}

float *dot_on_device(const float *left, const float *right, float *result, int len) {
  cudaMemset(result, 0, sizeof(float));
  const int per_block = 128;
  dot<<<(len + per_block - 1) / per_block, per_block>>>(left, right, result, len);
  return result;
}
