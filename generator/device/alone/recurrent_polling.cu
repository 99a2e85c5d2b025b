// sm_80 sm_90a sm_100a sm_120
#include "../recurrent_polling.cuh"

__global__ void recurrent_polling(float4 *places) {
  using warpwright_recurrent::Polled;
  float4 value = Polled::read(places + threadIdx.x);
  Polled::wait(value, places + threadIdx.x);
  Polled::publish(&places[threadIdx.x + 32].x, value.x);
}
