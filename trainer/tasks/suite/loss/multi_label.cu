// Logistic loss of many labels a sample with weights of the labels: a 2D kernel that walks down columns.
// warpwright: samples = 16384, labels = 512, check samples = 5 labels = 33
__global__ void multi_label(const float *logit, const float *truth, const float *weight,
                            float *loss, int samples, int labels) {
  const int s = blockIdx.x * blockDim.x + threadIdx.x;
  const int l = blockIdx.y * blockDim.y + threadIdx.y;
  if (s < samples && l < labels) {
    const int at = s * labels + l;
    const float z = truth[at] > 0.5 ? -logit[at] : logit[at];
    loss[at] = weight[l] * (fmaxf(z, 0.0) + log1pf(expf(-fabsf(z))));
  }
}

void multi_label_loss(const float *logit, const float *truth, const float *weight, float *loss,
                      int samples, int labels) {
  dim3 tile(32, 4);
  dim3 tiles((samples + 31) / 32, (labels + 3) / 4);
  multi_label<<<tiles, tile>>>(logit, truth, weight, loss, samples, labels);
}
