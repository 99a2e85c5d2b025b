// Logits with a penalty that grows with the distance of query and key, less in later heads: x of the thread along queries.
// warpwright: heads = 8, steps = 1024, check heads = 2 steps = 17
__global__ void distance_bias(const float *logit, float *biased, int heads, int steps) {
  int from = blockIdx.x * blockDim.x + threadIdx.x;
  int to = blockIdx.y * blockDim.y + threadIdx.y;
  int head = blockIdx.z;
  if (from >= steps || to >= steps)
    return;
  float slope = 1.0 / (1.0 + head);
  int at = head * steps * steps + from * steps + to;
  biased[at] = logit[at] * 0.125 - slope * abs(from - to);
}

void add_bias(const float *logit, float *biased, int heads, int steps) {
  dim3 threads(16, 16, 1);
  dim3 blocks((steps + 15) / 16, (steps + 15) / 16, heads);
  distance_bias<<<blocks, threads>>>(logit, biased, heads, steps);
}
