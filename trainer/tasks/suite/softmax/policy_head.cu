// Probabilities of actions from their values, one agent a thread, 32 agents a block.
// warpwright: agents = 16384, actions = 256, check agents = 3 actions = 17
__global__ void action_probabilities(const float *values, float *probabilities, int agents,
                                     int actions) {
  int agent = threadIdx.x + blockIdx.x * blockDim.x;
  if (agent < agents) {
    float top = -1e30f;
    for (int a = 0; a < actions; ++a) {
      float v = values[agent * actions + a];
      top = fmaxf(top, v);
    }
    float norm = 0.f;
    for (int a = 0; a < actions; ++a) {
      norm += expf(values[agent * actions + a] - top);
    }
    for (int a = 0; a < actions; ++a) {
      float e = expf(values[agent * actions + a] - top);
      probabilities[agent * actions + a] = e / norm;
    }
  }
}

void run_policy(const float *values, float *probabilities, int agents, int actions) {
  int blocks = (agents + 31) / 32;
  action_probabilities<<<blocks, 32>>>(values, probabilities, agents, actions);
}
