// Built-in declarations of the CUDA samples' helper_math.h and vector_math: arithmetic on vector
// types.
#pragma once
#define WW_VECTOR_MATH(V, T) \
  WW_HD V operator+(V, V); WW_HD V operator-(V, V); WW_HD V operator*(V, V); WW_HD V operator/(V, V); WW_HD V operator-(V); \
  WW_HD V operator+(V, T); WW_HD V operator-(V, T); WW_HD V operator*(V, T); WW_HD V operator/(V, T); \
  WW_HD V operator+(T, V); WW_HD V operator*(T, V); \
  WW_HD V &operator+=(V &, V); WW_HD V &operator-=(V &, V); WW_HD V &operator*=(V &, V); WW_HD V &operator*=(V &, T); WW_HD V &operator/=(V &, T); \
  WW_HD T dot(V, V); WW_HD V clamp(V, T, T); WW_HD V lerp(V, V, T);
WW_VECTOR_MATH(float2, float) WW_VECTOR_MATH(float3, float) WW_VECTOR_MATH(float4, float)
WW_VECTOR_MATH(int2, int) WW_VECTOR_MATH(int3, int) WW_VECTOR_MATH(int4, int)
#undef WW_VECTOR_MATH
#define WW_LENGTH(V) WW_HD float length(V); WW_HD V normalize(V); WW_HD V fminf(V, V); WW_HD V fmaxf(V, V); WW_HD V fabs(V); WW_HD V floorf(V);
WW_LENGTH(float2) WW_LENGTH(float3) WW_LENGTH(float4)
#undef WW_LENGTH
WW_HD float3 cross(float3, float3); WW_HD float3 reflect(float3, float3); WW_HD float lerp(float, float, float); WW_HD float clamp(float, float, float);
WW_HD float2 make_float2(float); WW_HD float3 make_float3(float); WW_HD float4 make_float4(float); WW_HD float3 make_float3(float4); WW_HD float4 make_float4(float3);
WW_HD float4 make_float4(float3, float); WW_HD float3 make_float3(float2, float); WW_HD int2 make_int2(int);
