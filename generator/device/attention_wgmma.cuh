// Attention of 16-bit queries, keys and values on wgmma, in FP32 without scores in memory.
// Behind half_mma.cuh, attention.cuh and tensor_copies.cuh.
//
// A tile is 64 queries of one head for each group of four warps. One thread copies queries, and
// tiles of keys and values into rings of stages, by tensor maps. While a group's scores become
// weights, the tensor cores multiply those of the tile before by its values, and work for the
// other groups (FlashAttention-3, Shah et al. 2024).
#ifndef WARPWRIGHT_ATTENTION_WGMMA
#define WARPWRIGHT_ATTENTION_WGMMA

namespace warpwright_attention {

using namespace warpwright_tensor;

// @tparam C kDepth, kWidth: head size of queries and keys, and of values, multiples of 8; kQueries, kLength: queries and
//   keys; kHeads: of queries that share keys; kBatches: of keys; kGroups: of four warps; kRegisters, kLoadRegisters: of a
//   thread that multiplies, and that loads; kTurns; kKeys: of a stage; kStages; kCachedKeys: keys that the second-level
//   cache holds; kBFloat16; kInnerQ, kInnerKeys, kInnerValues: extents of the
//   inner batch dimension of each; kInnerStepQ, kOuterStepQ and so on: 1, or 0 where the operand is the same along it;
//   Scores, Values: wgmma with kKeys and kWidth columns; factor(): of a score, to the power of two whose exponent it is
template <class C> struct Flash {
  static constexpr int kTileRows = 64 * C::kGroups;
  static constexpr int kSteps = (C::kDepth + 15) / 16; // of 16
  static constexpr int kDepthPanels = (C::kDepth + 63) / 64, kWidthPanels = (C::kWidth + 63) / 64;
  static constexpr int kQueryPanel = kTileRows * 128, kKeyPanel = C::kKeys * 128;
  static constexpr int kQueryBytes = kQueryPanel * kDepthPanels, kKeyBytes = kKeyPanel * kDepthPanels,
                       kValueBytes = kKeyPanel * kWidthPanels;
  // Where the stages and barriers lie.
  static constexpr int kKeysAt = kQueryBytes, kValuesAt = kKeysAt + C::kStages * kKeyBytes,
                       kBarriersAt = kValuesAt + C::kStages * kValueBytes;
  static constexpr int kScores = C::kKeys / 2, kResults = C::kWidth / 2; // registers

  struct Barriers { // addresses of a full and an empty one for each
    unsigned query, keys, values;
    __device__ __forceinline__ explicit Barriers(unsigned base)
        : query(base + kBarriersAt), keys(query + 16), values(keys + C::kStages * 16) {}
    static __device__ __forceinline__ unsigned full(unsigned ring, int stage) { return ring + stage * 16; }
    static __device__ __forceinline__ unsigned empty(unsigned ring, int stage) { return ring + stage * 16 + 8; }
  };

  // A place in a ring of stages.
  struct Place {
    int stage = 0, parity = 0;
    __device__ __forceinline__ void advance() {
      if (++stage == C::kStages) {
        stage = 0;
        parity ^= 1;
      }
    }
  };

  // Numbers of tiles are functions, since an attention for a range of sizes reads them from memory.
  static __device__ __forceinline__ int query_tiles() { return (C::kQueries + kTileRows - 1) / kTileRows; }
  static __device__ __forceinline__ int items() { return query_tiles() * C::kHeads * C::kBatches; }

  struct Item {
    int first_query, head, batch; // head of those that share keys
    int begin, end;               // tiles of keys
  };

  // Blocks take items in turns, forwards and backwards, the longest first, of a section of heads whose keys the cache
  // holds.
  template <class See> static __device__ __forceinline__ Item item(int number, See window) {
    const int fitting = C::kCachedKeys / C::kLength, section = C::kHeads * (fitting > 0 ? fitting : 1);
    const int first_head = number / (section * query_tiles()) * section, place = number - first_head * query_tiles();
    const int left = C::kHeads * C::kBatches - first_head, heads = left < section ? left : section;
    const int head = first_head + place % heads;
    Item here;
    here.first_query = (query_tiles() - 1 - place / heads) * kTileRows;
    here.head = head % C::kHeads;
    here.batch = head / C::kHeads;
    const int last_query = here.first_query + kTileRows < C::kQueries ? here.first_query + kTileRows - 1 : C::kQueries - 1;
    here.begin = window(here.first_query * C::kHeads).first / C::kKeys;
    here.end = (window(last_query * C::kHeads).last + C::kKeys - 1) / C::kKeys;
    return here;
  }
  static __device__ __forceinline__ int number_of(int turn) {
    return turn * gridDim.x + (turn % 2 ? gridDim.x - 1 - blockIdx.x : blockIdx.x);
  }

  // @param window (row): what it sees, where row = query * kHeads + head; both ends grow with rows, and do not meet
  // @param score (batch, row, pair, values): changes the scores of keys 2 * pair and 2 * pair + 1
  // @param store (batch, row, column, values): four columns of a row
  template <class See, class Score, class Store>
  static __device__ __forceinline__ void run(const Map &map_q, const Map &map_k, const Map &map_v, See window, Score score,
                                             Store store) {
    extern __shared__ unsigned char dynamic[];
    const unsigned base = (shared_address(dynamic) + 1023) & ~1023u;
    const Barriers barriers(base);
    const int warp = __shfl_sync(warpwright_mma::kWarp, threadIdx.x / 32, 0);
    if (threadIdx.x == 0) {
      for (int i = 0; i < 2 * C::kStages + 1; ++i) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barriers.query + i * 16));
        asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barriers.query + i * 16 + 8), "n"(4 * C::kGroups));
      }
      asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
    if (warp >= C::kGroups * 4) {
      asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(C::kLoadRegisters));
      if (threadIdx.x == C::kGroups * 128)
        load(base, barriers, map_q, map_k, map_v, window);
    } else {
      asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(C::kRegisters));
      attend(base, barriers, warp, window, score, store);
    }
  }

  // Copies a tile of keys, or of values, into the next stage of its ring.
  template <int kPanels>
  static __device__ __forceinline__ void load_keys(Place &place, unsigned ring, unsigned stages, const Map &map, int tile,
                                                   int inner, int outer) {
    const unsigned full = Barriers::full(ring, place.stage);
    wait(Barriers::empty(ring, place.stage), place.parity);
    expect(full, kPanels * kKeyPanel);
#pragma unroll
    for (int panel = 0; panel < kPanels; ++panel)
      copy(stages + (place.stage * kPanels + panel) * kKeyPanel, map, panel * 64, tile * C::kKeys, inner, outer, full);
    place.advance();
  }

  template <class See>
  static __device__ __forceinline__ void load(unsigned base, const Barriers &barriers, const Map &map_q, const Map &map_k,
                                              const Map &map_v, See window) {
    Place keys{0, 1}, values{0, 1};
    int number = number_of(0);
    for (int turn = 0; number < items(); number = number_of(++turn)) {
      const Item here = item(number, window);
      const int q = here.batch * C::kHeads + here.head;
      wait(Barriers::empty(barriers.query, 0), turn % 2 ^ 1);
      expect(Barriers::full(barriers.query, 0), kQueryBytes);
#pragma unroll
      for (int panel = 0; panel < kDepthPanels; ++panel)
        copy(base + panel * kQueryPanel, map_q, panel * 64, here.first_query, q % C::kInnerQ * C::kInnerStepQ,
             q / C::kInnerQ * C::kOuterStepQ, Barriers::full(barriers.query, 0));
      for (int tile = here.begin; tile < here.end; ++tile) {
        load_keys<kDepthPanels>(keys, barriers.keys, base + kKeysAt, map_k, tile,
                                here.batch % C::kInnerKeys * C::kInnerStepKeys, here.batch / C::kInnerKeys * C::kOuterStepKeys);
        load_keys<kWidthPanels>(values, barriers.values, base + kValuesAt, map_v, tile,
                                here.batch % C::kInnerValues * C::kInnerStepValues,
                                here.batch / C::kInnerValues * C::kOuterStepValues);
      }
    }
  }

  // With kTurns, groups use the tensor cores in turns, so that one multiplies while another computes weights.
  static __device__ __forceinline__ void await_turn(int group) {
    if constexpr (C::kTurns)
      asm volatile("bar.sync %0, 256;" ::"r"(1 + group) : "memory");
  }
  static __device__ __forceinline__ void give_turn(int group) {
    if constexpr (C::kTurns)
      asm volatile("bar.arrive %0, 256;" ::"r"(1 + (group + 1) % C::kGroups) : "memory");
  }

  static __device__ __forceinline__ void multiply_scores(float (&scores)[kScores], unsigned queries, unsigned keys) {
    C::Scores::begin(scores);
#pragma unroll
    for (int step = 0; step < kSteps; ++step)
      C::Scores::add(scores, descriptor(queries + step / 4 * kQueryPanel + step % 4 * 32),
                     descriptor(keys + step / 4 * kKeyPanel + step % 4 * 32), step > 0);
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  }
  static __device__ __forceinline__ void multiply_values(float (&results)[kResults], const unsigned (&weights)[C::kKeys / 4],
                                                         unsigned values, bool adds) {
    C::Values::begin(results);
#pragma unroll
    for (int step = 0; step < C::kKeys / 16; ++step)
      C::Values::add(results, weights + step * 4, descriptor(values + step * 2048, kKeyPanel), adds || step > 0);
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  }

  // Waits for all products. Weights stay where they are until here: the compiler does not see that wgmma goes on reading.
  static __device__ __forceinline__ void finish(float (&results)[kResults], unsigned (&weights)[C::kKeys / 4]) {
    C::Values::finish(results);
#pragma unroll
    for (unsigned &one : weights)
      asm volatile("" : "+r"(one));
  }

  // The running softmax of rows g and g + 8 of a warp's 16.
  struct Rows {
    int row[2];
    Window seen[2];
    float most[2] = {hidden(), hidden()}, sum[2] = {0.0f, 0.0f};
  };

  // Makes scores weights. @return shrink by what earlier weights must shrink
  template <bool kWhole, class Score>
  static __device__ __forceinline__ void weigh(float (&scores)[kScores], Rows &rows, int batch, int first_key, float (&shrink)[2],
                                               Score score) {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float most[2] = {rows.most[half], hidden()};
#pragma unroll
      for (int n = 0; n < C::kKeys / 8; ++n) {
        const int first = first_key + n * 8 + lane % 4 * 2;
        float values[2] = {scores[n * 4 + half * 2], scores[n * 4 + half * 2 + 1]};
        score(batch, rows.row[half], first / 2, values);
#pragma unroll
        for (int j = 0; j < 2; ++j) {
          if (!kWhole && (first + j < rows.seen[half].first || first + j >= rows.seen[half].last))
            values[j] = hidden();
          most[j] = fmaxf(most[j], values[j]);
          scores[n * 4 + half * 2 + j] = values[j];
        }
      }
      most[0] = fmaxf(most[0], most[1]);
      most[0] = fmaxf(most[0], __shfl_xor_sync(warpwright_mma::kWarp, most[0], 1));
      most[0] = fmaxf(most[0], __shfl_xor_sync(warpwright_mma::kWarp, most[0], 2));
      const float base = most[0] == hidden() ? 0.0f : most[0];
      shrink[half] = weight_of<true>(rows.most[half], base, C::factor());
      rows.most[half] = most[0];
      float sum[2] = {rows.sum[half] * shrink[half], 0.0f};
      if (has_large(base, C::factor()))
        make_weights<true>(scores, half, base, sum);
      else
        make_weights<false>(scores, half, base, sum);
      rows.sum[half] = sum[0] + sum[1];
    }
  }

  template <bool kLarge>
  static __device__ __forceinline__ void make_weights(float (&scores)[kScores], int half, float base, float (&sum)[2]) {
#pragma unroll
    for (int n = 0; n < C::kKeys / 8; ++n)
#pragma unroll
      for (int j = 0; j < 2; ++j) {
        float &one = scores[n * 4 + half * 2 + j];
        one = weight_of<kLarge>(one, base, C::factor());
        sum[j] += one;
      }
  }

  static __device__ __forceinline__ void round_weights(const float (&scores)[kScores], unsigned (&weights)[C::kKeys / 4]) {
#pragma unroll
    for (int i = 0; i < C::kKeys / 4; ++i)
      weights[i] = warpwright_mma::pair_of<C::kBFloat16>(scores[i * 2], scores[i * 2 + 1]);
  }

  template <class See, class Score, class Store>
  static __device__ __forceinline__ void attend(unsigned base, const Barriers &barriers, int warp, See window, Score score,
                                                Store store) {
    const int group = warp / 4, lane = threadIdx.x % 32;
    Place keys, values;
    if (group == C::kGroups - 1)
      give_turn(group);
    int number = number_of(0);
    for (int turn = 0; number < items(); number = number_of(++turn)) {
      const Item here = item(number, window);
      const int warp_query = here.first_query + warp * 16;
      const auto row_of = [&](int query) {
        return (query < C::kQueries ? query : C::kQueries - 1) * C::kHeads + here.head;
      };
      Rows rows;
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        rows.row[half] = row_of(warp_query + half * 8 + lane / 4);
        rows.seen[half] = window(rows.row[half]);
      }
      // Every row of the warp sees the keys from the last row's first to the first row's last.
      const int all_from = window(row_of(warp_query + 15)).first, all_to = window(row_of(warp_query)).last;
      float scores[kScores], results[kResults] = {}, shrink[2];
      unsigned weights[C::kKeys / 4];
      const auto weigh_tile = [&](int tile) {
        const int first_key = tile * C::kKeys;
        if (all_from <= first_key && first_key + C::kKeys <= all_to)
          weigh<true>(scores, rows, here.batch, first_key, shrink, score);
        else
          weigh<false>(scores, rows, here.batch, first_key, shrink, score);
      };
      const unsigned queries = base + group * 64 * 128;

      wait(Barriers::full(barriers.query, 0), turn % 2);
      wait(Barriers::full(barriers.keys, keys.stage), keys.parity);
      await_turn(group);
      multiply_scores(scores, queries, base + kKeysAt + keys.stage * kKeyBytes);
      give_turn(group);
      C::Scores::template finish<0>(scores);
      release(Barriers::empty(barriers.keys, keys.stage));
      keys.advance();
      weigh_tile(here.begin);
      round_weights(scores, weights);
      for (int tile = here.begin + 1; tile < here.end; ++tile) {
        wait(Barriers::full(barriers.keys, keys.stage), keys.parity);
        await_turn(group);
        multiply_scores(scores, queries, base + kKeysAt + keys.stage * kKeyBytes);
        wait(Barriers::full(barriers.values, values.stage), values.parity);
        multiply_values(results, weights, base + kValuesAt + values.stage * kValueBytes, tile > here.begin + 1);
        give_turn(group);
        C::Scores::template finish<1>(scores);
        release(Barriers::empty(barriers.keys, keys.stage));
        keys.advance();
        weigh_tile(tile);
        finish(results, weights);
        release(Barriers::empty(barriers.values, values.stage));
        values.advance();
        if (__any_sync(warpwright_mma::kWarp, shrink[0] != 1.0f || shrink[1] != 1.0f)) {
#pragma unroll
          for (int i = 0; i < kResults; ++i)
            results[i] *= shrink[i / 2 % 2];
        }
        round_weights(scores, weights);
      }
      release(Barriers::empty(barriers.query, 0));
      wait(Barriers::full(barriers.values, values.stage), values.parity);
      multiply_values(results, weights, base + kValuesAt + values.stage * kValueBytes, here.end > here.begin + 1);
      finish(results, weights);
      release(Barriers::empty(barriers.values, values.stage));
      values.advance();
      keep(here, warp_query, rows, results, store);
    }
  }

  // Divides by the sums and stores. Lanes exchange pairs, so that each has four columns of one row.
  template <class Store>
  static __device__ __forceinline__ void keep(const Item &here, int warp_query, Rows &rows, float (&results)[kResults],
                                              Store store) {
    const int lane = threadIdx.x % 32, odd = lane % 2;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float &sum = rows.sum[half];
      sum += __shfl_xor_sync(warpwright_mma::kWarp, sum, 1);
      sum += __shfl_xor_sync(warpwright_mma::kWarp, sum, 2);
      sum = sum > 0.0f ? 1.0f / sum : 0.0f; // a row that sees no key is 0
    }
    const int query = warp_query + odd * 8 + lane / 4;
#pragma unroll
    for (int n = 0; n < C::kWidth / 8; ++n) {
      float own[2], others[2];
#pragma unroll
      for (int j = 0; j < 2; ++j) {
        const float first = results[n * 4 + j] * rows.sum[0], second = results[n * 4 + 2 + j] * rows.sum[1];
        own[j] = odd ? second : first;
        others[j] = __shfl_xor_sync(warpwright_mma::kWarp, odd ? first : second, 1);
      }
      const float values[4] = {odd ? others[0] : own[0], odd ? others[1] : own[1], odd ? own[0] : others[0],
                               odd ? own[1] : others[1]};
      if (query < C::kQueries)
        store(here.batch, query * C::kHeads + here.head, n * 8 + lane % 4 / 2 * 4, values);
    }
  }
};

} // namespace warpwright_attention
#endif
