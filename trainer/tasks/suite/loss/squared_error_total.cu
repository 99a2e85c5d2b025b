// The sum of squared errors of a prediction, added by every thread to one number.
// warpwright: outcomes = 1000000, check outcomes = 1 | outcomes = 1000, fill sse = 0
__global__ void add_squared_error(const float *predicted, const float *observed, float *sse,
                                  int outcomes) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < outcomes)
    atomicAdd(sse, (predicted[i] - observed[i]) * (predicted[i] - observed[i]));
}

void sum_of_squared_errors(const float *predicted, const float *observed, float *sse,
                           int outcomes) {
  cudaMemset(sse, 0, sizeof(float));
  add_squared_error<<<(outcomes + 255) / 256, 256>>>(predicted, observed, sse, outcomes);
}
