// Logarithms of next-token probabilities, a thread for each position; log and exp are the double ones.
// warpwright: positions = 4096, vocabulary = 512, check positions = 3 vocabulary = 17
__global__ void log_probabilities(const float *logit, float *logp, int positions, int vocabulary) {
  int p = blockIdx.x * blockDim.x + threadIdx.x;
  if (p >= positions)
    return;
  float highest = logit[p * vocabulary];
  for (int w = 1; w < vocabulary; w++) {
    if (logit[p * vocabulary + w] > highest)
      highest = logit[p * vocabulary + w];
  }
  float mass = 0.0;
  for (int w = 0; w < vocabulary; w++)
    mass += exp(1.0 * (logit[p * vocabulary + w] - highest));
  float log_mass = log(mass + 0.0);
  for (int w = 0; w < vocabulary; w++)
    logp[p * vocabulary + w] = logit[p * vocabulary + w] - highest - log_mass;
}

void score_positions(const float *logit, float *logp, int positions, int vocabulary) {
  log_probabilities<<<(positions + 63) / 64, 64>>>(logit, logp, positions, vocabulary);
}
