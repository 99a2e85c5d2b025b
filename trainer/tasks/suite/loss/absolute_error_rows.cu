// Mean absolute error of every forecast against what came, a forecast a thread.
// warpwright: forecasts = 16384, hours = 256, check forecasts = 3 hours = 17
__global__ void absolute_error(const float *forecast, const float *actual, float *error,
                               int forecasts, int hours) {
  int f = blockIdx.x * blockDim.x + threadIdx.x;
  if (f >= forecasts)
    return;
  float off = 0.0f;
  for (int h = 0; h < hours; ++h)
    off = off + fabsf(forecast[f * hours + h] - actual[f * hours + h]);
  error[f] = off / hours;
}

void judge(const float *forecast, const float *actual, float *error, int forecasts, int hours) {
  absolute_error<<<(forecasts + 31) / 32, 32>>>(forecast, actual, error, forecasts, hours);
}
