// Forward pass of new tokens after cached ones. Shapes: N new tokens, C width, H heads, D = C / H, I inner width.
#include "trainer/inference/plain_network.h"

#include "trainer/inference/matrix.h"
#include "trainer/network/weights_file.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace warpwright::trainer {
namespace {

constexpr float kEpsilon = 1e-6f;
constexpr double kRotationBase = 10'000;
constexpr std::size_t kQueryRows = 48; ///< queries per block of attention
constexpr std::size_t kLanes = 16;     ///< key counts are padded to multiples

using Floats = std::vector<float>;

/// A weight matrix (in, out), the layout of multiply(); the file holds it as (out, in).
struct Linear {
  std::size_t in = 0, out = 0;
  Floats values;

  void apply(const float *x, std::size_t rows, Floats &result) const {
    result.resize(rows * out);
    multiply({x, in}, {values.data(), out}, result.data(), out, rows, in, out);
  }
};

struct Layer {
  Floats attention_norm, feed_norm;
  Linear attention, attention_out, feed_in, feed_out;
};

struct Weights {
  NetworkShape shape;
  std::size_t width = 0, heads = 0, head = 0, inner = 0, capacity = 0;
  Floats embedding, last_norm, cosines, sines; ///< cosines, sines: (context, D / 2)
  std::vector<Layer> layers;
};

/// Keys and values of all layers and heads; for each, keys are (D, capacity) and values (capacity, D).
struct Cache {
  Floats keys, values;
  std::vector<int> tokens; ///< cached so far
};

void normalize(const float *x, const Floats &gain, std::size_t rows, Floats &result) {
  const std::size_t width = gain.size();
  result.resize(rows * width);
  for (std::size_t row = 0; row < rows; ++row, x += width) {
    float squares = 0;
    for (std::size_t i = 0; i < width; ++i)
      squares += x[i] * x[i];
    const float scale = 1 / std::sqrt(squares / float(width) + kEpsilon);
    for (std::size_t i = 0; i < width; ++i)
      result[row * width + i] = x[i] * scale * gain[i];
  }
}

void add(Floats &sum, const Floats &more) {
  for (std::size_t i = 0; i < sum.size(); ++i)
    sum[i] += more[i];
}

/// Forward pass of tokens that follow those of a cache.
class Reading {
public:
  Reading(const Weights &weights, Cache &cache) : w_(weights), cache_(cache) {}

  /// @return the last token's hidden state (C), after the last norm
  Floats read(const std::vector<int> &tokens) {
    rows_ = tokens.size();
    start_ = cache_.tokens.size();
    cache_.tokens.insert(cache_.tokens.end(), tokens.begin(), tokens.end());
    Floats x(rows_ * w_.width), normal, all, mixed, added;
    for (std::size_t row = 0; row < rows_; ++row)
      std::copy_n(w_.embedding.data() + std::size_t(tokens[row]) * w_.width, w_.width,
                  x.data() + row * w_.width);
    for (std::size_t i = 0; i < w_.layers.size(); ++i) {
      const Layer &layer = w_.layers[i];
      normalize(x.data(), layer.attention_norm, rows_, normal);
      layer.attention.apply(normal.data(), rows_, all); // (N, 3, H, D)
      attend(i, all, mixed);
      layer.attention_out.apply(mixed.data(), rows_, added);
      add(x, added);
      normalize(x.data(), layer.feed_norm, rows_, normal);
      layer.feed_in.apply(normal.data(), rows_, all); // (N, 2, I)
      mixed.resize(rows_ * w_.inner);
      for (std::size_t row = 0; row < rows_; ++row) {
        const float *halves = all.data() + row * 2 * w_.inner;
        gated(halves, halves + w_.inner, mixed.data() + row * w_.inner, w_.inner);
      }
      layer.feed_out.apply(mixed.data(), rows_, added);
      add(x, added);
    }
    Floats last;
    normalize(x.data() + (rows_ - 1) * w_.width, w_.last_norm, 1, last);
    return last;
  }

private:
  void rotate(const float *from, std::size_t position, float *to) const {
    const std::size_t half = w_.head / 2;
    const float *cosines = w_.cosines.data() + position * half;
    const float *sines = w_.sines.data() + position * half;
    for (std::size_t i = 0; i < half; ++i) {
      to[i] = from[i] * cosines[i] - from[i + half] * sines[i];
      to[i + half] = from[i + half] * cosines[i] + from[i] * sines[i];
    }
  }

  /// @param all (N, 3, H, D): queries, keys, values @param mixed (N, C)
  void attend(std::size_t layer, const Floats &all, Floats &mixed) {
    mixed.resize(rows_ * w_.width);
    queries_.resize(rows_ * w_.head);
    Floats rotated(w_.head);
    for (std::size_t head = 0; head < w_.heads; ++head) {
      const std::size_t place = (layer * w_.heads + head) * w_.head * w_.capacity;
      float *keys = cache_.keys.data() + place, *values = cache_.values.data() + place;
      for (std::size_t row = 0; row < rows_; ++row) {
        const float *own = all.data() + row * 3 * w_.width + head * w_.head;
        rotate(own, start_ + row, queries_.data() + row * w_.head);
        rotate(own + w_.width, start_ + row, rotated.data());
        for (std::size_t i = 0; i < w_.head; ++i)
          keys[i * w_.capacity + start_ + row] = rotated[i];
        std::copy_n(own + 2 * w_.width, w_.head, values + (start_ + row) * w_.head);
      }
      attend_head(keys, values, mixed.data() + head * w_.head);
    }
  }

  void attend_head(const float *keys, const float *values, float *mixed) {
    const float scale = 1 / std::sqrt(float(w_.head));
    for (std::size_t row = 0; row < rows_; row += kQueryRows) {
      const std::size_t rows = std::min(kQueryRows, rows_ - row);
      const std::size_t seen = start_ + row + 1;
      const std::size_t stride = (seen + rows - 1 + kLanes - 1) / kLanes * kLanes;
      scores_.resize(rows * stride);
      multiply({queries_.data() + row * w_.head, w_.head}, {keys, w_.capacity}, scores_.data(),
               stride, rows, w_.head, stride);
      for (std::size_t i = 0; i < rows; ++i) { // each row sees one key more than the previous row
        softmax(scores_.data() + i * stride, seen + i, scale);
        std::fill(scores_.data() + i * stride + seen + i, scores_.data() + (i + 1) * stride, 0.0f);
      }
      multiply({scores_.data(), stride}, {values, w_.head}, mixed + row * w_.width, w_.width, rows,
               seen + rows - 1, w_.head);
    }
  }

  const Weights &w_;
  Cache &cache_;
  std::size_t rows_ = 0, start_ = 0;
  Floats queries_, scores_;
};

class PlainDecoding final : public Decoding {
public:
  PlainDecoding(std::shared_ptr<const Weights> weights, Cache cache)
      : weights_(std::move(weights)), cache_(std::move(cache)) {}

  void read(const std::vector<int> &tokens) { last_ = Reading(*weights_, cache_).read(tokens); }
  const Cache &cache() const { return cache_; }

  std::vector<float> log_probabilities(const std::vector<int> &allowed,
                                       double temperature) override {
    std::vector<float> result;
    float largest = -std::numeric_limits<float>::infinity();
    for (const int token : allowed) {
      const float *row = weights_->embedding.data() + std::size_t(token) * weights_->width;
      float logit = 0;
      for (std::size_t i = 0; i < weights_->width; ++i)
        logit += row[i] * last_[i];
      result.push_back(logit / float(temperature));
      largest = std::max(largest, result.back());
    }
    double sum = 0;
    for (const float value : result)
      sum += std::exp(double(value - largest));
    for (float &value : result)
      value -= largest + float(std::log(sum));
    return result;
  }
  void push(int token) override { read({token}); }
  int length() const override { return int(cache_.tokens.size()); }
  std::unique_ptr<Decoding> fork() const override { return std::make_unique<PlainDecoding>(*this); }

private:
  std::shared_ptr<const Weights> weights_;
  Cache cache_;
  Floats last_;
};

class PlainNetwork final : public Decoder {
public:
  explicit PlainNetwork(std::shared_ptr<const Weights> weights) : weights_(std::move(weights)) {
    const std::size_t size = weights_->layers.size() * weights_->width * weights_->capacity;
    last_.keys.resize(size);
    last_.values.resize(size);
  }

  const NetworkShape &shape() const override { return weights_->shape; }

  std::unique_ptr<Decoding> decode(const std::vector<int> &prompt) override {
    const auto same =
        std::mismatch(prompt.begin(), prompt.end(), last_.tokens.begin(), last_.tokens.end()).first;
    // The last token is always read again, because the cache keeps no hidden state.
    const auto from = std::min(same, prompt.end() - 1);
    Cache cache = last_;
    cache.tokens.assign(prompt.begin(), from);
    auto decoding = std::make_unique<PlainDecoding>(weights_, std::move(cache));
    decoding->read({from, prompt.end()});
    last_ = decoding->cache();
    return decoding;
  }

private:
  std::shared_ptr<const Weights> weights_;
  Cache last_; ///< of the last prompt
};

class Loader {
public:
  explicit Loader(const std::vector<NamedTensor> &tensors) : tensors_(tensors) {}

  Floats take(const std::string &name, std::vector<std::int64_t> shape) {
    const auto found = std::ranges::find(tensors_, name, &NamedTensor::name);
    if (found == tensors_.end())
      return refuse("there is no tensor " + name);
    return found->shape == shape ? found->values : refuse("tensor " + name + " has another shape");
  }
  Linear linear(const std::string &name, std::size_t in, std::size_t out) {
    const Floats rows = take(name, {std::int64_t(out), std::int64_t(in)});
    Linear linear{in, out, Floats(in * out)};
    for (std::size_t i = 0; i < in && !rows.empty(); ++i)
      for (std::size_t o = 0; o < out; ++o)
        linear.values[i * out + o] = rows[o * in + i];
    return linear;
  }
  const std::string &problem() const { return problem_; }

private:
  Floats refuse(std::string why) {
    if (problem_.empty())
      problem_ = std::move(why);
    return {};
  }

  const std::vector<NamedTensor> &tensors_;
  std::string problem_;
};

/// Fills the tables of rotary positions, in float as LibTorch computes them.
void fill_rotations(Weights &weights) {
  const std::size_t half = weights.head / 2;
  for (std::size_t position = 0; position < std::size_t(weights.shape.context); ++position)
    for (std::size_t i = 0; i < half; ++i) {
      const float power = -float(2 * i) / float(weights.head);
      const float angle = float(position) * std::pow(float(kRotationBase), power);
      weights.cosines.push_back(std::cos(angle));
      weights.sines.push_back(std::sin(angle));
    }
}

} // namespace

Result<std::unique_ptr<Decoder>> make_plain_network(const NetworkShape &shape,
                                                    const std::vector<NamedTensor> &tensors) {
  if (shape.width <= 0 || shape.heads <= 0 || shape.layers <= 0 || shape.context <= 0 ||
      shape.width % (2 * shape.heads) != 0)
    return fail("its shape is none of a network");
  auto weights = std::make_shared<Weights>();
  Weights &w = *weights;
  w.shape = shape;
  w.width = std::size_t(shape.width);
  w.heads = std::size_t(shape.heads);
  w.head = w.width / w.heads;
  w.inner = (w.width * 8 / 3 + 15) / 16 * 16;
  w.capacity = (std::size_t(shape.context) + kLanes - 1) / kLanes * kLanes;
  Loader loader(tensors);
  const std::int64_t width = shape.width;
  w.embedding = loader.take("embedding", {shape.vocabulary, width});
  for (int i = 0; i < shape.layers && loader.problem().empty(); ++i) {
    const std::string name = "layer." + std::to_string(i) + ".";
    w.layers.push_back({loader.take(name + "attention_norm", {width}),
                        loader.take(name + "feed_norm", {width}),
                        loader.linear(name + "attention", w.width, 3 * w.width),
                        loader.linear(name + "attention_out", w.width, w.width),
                        loader.linear(name + "feed_in", w.width, 2 * w.inner),
                        loader.linear(name + "feed_out", w.inner, w.width)});
  }
  w.last_norm = loader.take("last_norm", {width});
  if (!loader.problem().empty())
    return fail(loader.problem());
  fill_rotations(w);
  return std::make_unique<PlainNetwork>(std::move(weights));
}

Result<PlainPolicy> load_plain_policy(const std::string &path) {
  auto file = TRY(read_weights(path));
  auto network = make_plain_network(file.shape, file.tensors);
  if (!network)
    return fail(path + ": " + network.error().message);
  return PlainPolicy{std::move(*network), std::move(file.vocabulary), std::move(file.stage)};
}

} // namespace warpwright::trainer
