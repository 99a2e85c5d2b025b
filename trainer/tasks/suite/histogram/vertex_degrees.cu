// Degree of each vertex from a list of edges: two scattered atomics an edge.
// warpwright: edges = 4000000, vertices = 100000, check edges = 77 vertices = 10, fill degree = 0
// warpwright: from: in int[edges] integers 0..vertices, to: in int[edges] integers 0..vertices
// warpwright: degree: inout int[vertices]
__global__ void vertex_degrees(const int *from, const int *to, int *degree, int edges) {
  int e = blockIdx.x * blockDim.x + threadIdx.x;
  if (e < edges) {
    atomicAdd(&degree[from[e]], 1);
    atomicAdd(&degree[to[e]], 1);
  }
}

void launch(const int *from, const int *to, int *degree, int edges, int vertices) {
  cudaMemset(degree, 0, vertices * sizeof(int));
  vertex_degrees<<<(edges + 127) / 128, 128>>>(from, to, degree, edges);
}
