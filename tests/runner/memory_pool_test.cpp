// Which blocks the pool hands out again, and which it lets go.
#include "runner/cuda/memory_pool.h"

#include <doctest/doctest.h>

using warpwright::runner::cuda::MemoryPool;
using Blocks = std::vector<MemoryPool::Address>;

TEST_CASE("a block that was given back is taken by the next buffer of its size, the newest first") {
  MemoryPool pool;
  pool.set_limit(1000);
  for (const MemoryPool::Address block : {1, 2, 3})
    pool.add(block, block == 3 ? 200 : 100);
  CHECK(!pool.take(100)); // all are in use
  for (const MemoryPool::Address block : {1, 2, 3})
    CHECK(pool.give_back(block).empty());
  CHECK(pool.take(100) == 2);
  CHECK(pool.take(100) == 1);
  CHECK(!pool.take(100));
  CHECK(!pool.take(150));
  CHECK(pool.take(200) == 3);
  CHECK(pool.empty().empty());
  CHECK(pool.give_back(2).empty());
  CHECK(pool.take(100) == 2);
}

TEST_CASE("what is kept is bounded: the oldest goes, and what is too large is never kept") {
  MemoryPool pool;
  pool.set_limit(250);
  for (const MemoryPool::Address block : {1, 2, 3})
    pool.add(block, 100);
  pool.add(4, 251);
  CHECK(pool.give_back(4) == Blocks{4});
  CHECK(pool.give_back(1).empty());
  CHECK(pool.give_back(2).empty());
  CHECK(pool.give_back(3) == Blocks{1});
  CHECK(pool.empty() == Blocks{2, 3});
  CHECK(pool.empty().empty());
  CHECK(pool.give_back(9) == Blocks{9}); // of which nothing is known
}

TEST_CASE("a pool without a limit keeps nothing") {
  MemoryPool pool;
  pool.add(1, 1);
  CHECK(pool.give_back(1) == Blocks{1});
}
