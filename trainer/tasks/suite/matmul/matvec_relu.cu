// One step of a dense network for a single sample: a dot product a thread, bias and ReLU.
// warpwright: neurons = 8192, inputs = 1024, check neurons = 17 inputs = 5
__global__ void neuron(const float *__restrict__ weights, const float *__restrict__ signal,
                       const float *__restrict__ threshold, float *__restrict__ fired, int neurons,
                       int inputs) {
  const int who = blockDim.x * blockIdx.x + threadIdx.x;
  if (who < neurons) {
    float charge = 0.0f;
    for (int i = 0; i < inputs; ++i)
      charge = fmaf(weights[who * inputs + i], signal[i], charge);
    charge -= threshold[who];
    fired[who] = charge > 0.0f ? charge : 0.0f;
  }
}

void fire(const float *weights, const float *signal, const float *threshold, float *fired,
          int neurons, int inputs) {
  neuron<<<(neurons + 31) / 32, 32>>>(weights, signal, threshold, fired, neurons, inputs);
}
