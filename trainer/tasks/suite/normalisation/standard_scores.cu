// Table to standard scores by known means and deviations of its columns; the kernel walks down columns (x is the row).
// warpwright: records = 100000, features = 64, check records = 17 features = 3
// warpwright: deviation: positive
__global__ void standard_scores(const float *table, const float *mean, const float *deviation,
                                float *score, int records, int features) {
  int record = blockIdx.x * blockDim.x + threadIdx.x;
  int feature = blockIdx.y * blockDim.y + threadIdx.y;
  if (record < records)
    if (feature < features) {
      int cell = record * features + feature;
      score[cell] = (table[cell] - mean[feature]) / (deviation[feature] + 1e-7);
    }
}

void standardise(const float *table, const float *mean, const float *deviation, float *score,
                 int records, int features) {
  dim3 shape(64, 4);
  dim3 count((records + 63) / 64, (features + 3) / 4);
  standard_scores<<<count, shape>>>(table, mean, deviation, score, records, features);
}
