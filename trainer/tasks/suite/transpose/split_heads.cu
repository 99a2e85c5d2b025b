// Tokens by heads into heads by tokens, 64 values a head, one thread a value.
// warpwright: batch = 8, steps = 512, heads = 12, check batch = 2 steps = 5 heads = 3
__global__ void split_heads(const float *in, float *out, int batch, int steps, int heads) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < batch * steps * heads * 64) {
    int d = i % 64;
    int h = (i / 64) % heads;
    int t = (i / (64 * heads)) % steps;
    int b = i / (64 * heads * steps);
    out[((b * heads + h) * steps + t) * 64 + d] = in[i];
  }
}

void launch(const float *in, float *out, int batch, int steps, int heads) {
  int total = batch * steps * heads * 64;
  split_heads<<<(total + 255) / 256, 256>>>(in, out, batch, steps, heads);
}
