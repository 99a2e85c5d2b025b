// Built-in stand-ins of the C++ standard library: common names of host code and device templates.
// All functions are callable from host and device, as with nvcc's relaxed constexpr.
#pragma once
namespace std {
using ::size_t; using ::ptrdiff_t; using ::int8_t; using ::int16_t; using ::int32_t; using ::int64_t;
using ::uint8_t; using ::uint16_t; using ::uint32_t; using ::uint64_t; using ::intptr_t; using ::uintptr_t;
using ::printf; using ::fprintf; using ::snprintf; using ::malloc; using ::free; using ::calloc; using ::exit;
using ::abort; using ::rand; using ::srand; using ::atoi; using ::atof; using ::memcpy; using ::memset; using ::memcmp;
using ::strlen; using ::strcmp; using ::time; using ::clock; using ::getenv; using ::puts; using ::FILE; using ::fopen;
using ::sqrt; using ::exp; using ::exp2; using ::expm1; using ::log; using ::log2; using ::log10; using ::log1p;
using ::sin; using ::cos; using ::tan; using ::asin; using ::acos; using ::atan; using ::atan2; using ::sinh; using ::cosh;
using ::tanh; using ::erf; using ::erfc; using ::floor; using ::ceil; using ::trunc; using ::round; using ::rint;
using ::fabs; using ::abs; using ::pow; using ::fmod; using ::fmin; using ::fmax; using ::hypot; using ::fma; using ::cbrt;
using ::isnan; using ::isinf; using ::isfinite; using ::sqrtf; using ::expf; using ::logf; using ::tanhf; using ::fabsf;
using ::powf; using ::lround; using ::ldexp; using ::copysign;
using ::strtol; using ::strtoul; using ::strtoll; using ::strtoull; using ::strtod; using ::strtof; using ::atol;
using ::isspace; using ::isdigit; using ::isalpha; using ::isalnum; using ::tolower; using ::toupper; using ::strncmp;
using ::fclose; using ::fscanf; using ::sscanf; using ::fread; using ::fwrite; using ::fseek; using ::ftell; using ::fgets;
using ::strcpy; using ::strncpy; using ::strstr; using ::memmove; using ::sprintf; using ::realloc; using ::qsort;
typedef long streamsize;
typedef decltype(nullptr) nullptr_t;

template <class T, T v> struct integral_constant { static constexpr T value = v; constexpr operator T() const { return v; } };
typedef integral_constant<bool, true> true_type;
typedef integral_constant<bool, false> false_type;
template <bool B> using bool_constant = integral_constant<bool, B>;
class type_info { public: const char *name() const; bool operator==(const type_info &) const; bool operator!=(const type_info &) const; };
template <bool B, class T, class F> struct conditional { typedef T type; };
template <class T, class F> struct conditional<false, T, F> { typedef F type; };
template <bool B, class T, class F> using conditional_t = typename conditional<B, T, F>::type;
template <bool B, class T = void> struct enable_if {};
template <class T> struct enable_if<true, T> { typedef T type; };
template <bool B, class T = void> using enable_if_t = typename enable_if<B, T>::type;
template <class T> struct remove_reference { typedef T type; };
template <class T> struct remove_reference<T &> { typedef T type; };
template <class T> struct remove_reference<T &&> { typedef T type; };
template <class T> using remove_reference_t = typename remove_reference<T>::type;
template <class T> struct remove_cv { typedef T type; };
template <class T> struct remove_cv<const T> { typedef T type; };
template <class T> struct remove_cv<volatile T> { typedef T type; };
template <class T> using remove_cv_t = typename remove_cv<T>::type;
template <class T> using remove_const_t = typename remove_cv<T>::type;
template <class T> struct decay { typedef remove_cv_t<remove_reference_t<T>> type; };
template <class T> using decay_t = typename decay<T>::type;
template <class T> struct remove_pointer { typedef T type; };
template <class T> struct remove_pointer<T *> { typedef T type; };
template <class T> using remove_pointer_t = typename remove_pointer<T>::type;
template <class T> using make_unsigned_t = __make_unsigned(T);
template <class...> using void_t = void;
#define WW_TRAIT1(name, ...) \
  template <class T> struct name : integral_constant<bool, __VA_ARGS__> {}; \
  template <class T> constexpr bool name##_v = __VA_ARGS__;
WW_TRAIT1(is_integral, __is_integral(T)) WW_TRAIT1(is_floating_point, __is_floating_point(T))
WW_TRAIT1(is_arithmetic, __is_arithmetic(T)) WW_TRAIT1(is_signed, __is_signed(T)) WW_TRAIT1(is_unsigned, __is_unsigned(T))
WW_TRAIT1(is_pointer, __is_pointer(T)) WW_TRAIT1(is_const, __is_const(T)) WW_TRAIT1(is_void, __is_void(T))
WW_TRAIT1(is_enum, __is_enum(T)) WW_TRAIT1(is_trivially_copyable, __is_trivially_copyable(T)) WW_TRAIT1(is_class, __is_class(T))
#undef WW_TRAIT1
template <class T, class U> struct is_same : integral_constant<bool, __is_same(T, U)> {};
template <class T, class U> constexpr bool is_same_v = __is_same(T, U);
template <class T, class U> struct is_convertible : integral_constant<bool, __is_convertible(T, U)> {};
template <class T, class U> constexpr bool is_convertible_v = __is_convertible(T, U);
template <class T, class U> constexpr bool is_base_of_v = __is_base_of(T, U);
template <class T, class U> struct common_type { typedef decltype(T() + U()) type; };
template <class T, class U> using common_type_t = typename common_type<T, U>::type;
template <class T> T &&declval() noexcept;
template <class F, class... A> using invoke_result_t = decltype(declval<F>()(declval<A>()...));

template <class T> WW_HD constexpr remove_reference_t<T> &&move(T &&x) { return static_cast<remove_reference_t<T> &&>(x); }
template <class T> WW_HD constexpr T &&forward(remove_reference_t<T> &x) { return static_cast<T &&>(x); }
template <class T> WW_HD constexpr const T &min(const T &a, const T &b) { return b < a ? b : a; }
template <class T> WW_HD constexpr const T &max(const T &a, const T &b) { return a < b ? b : a; }
template <class T, class C> WW_HD const T &min(const T &, const T &, C);
template <class T, class C> WW_HD const T &max(const T &, const T &, C);
template <class T> WW_HD constexpr const T &clamp(const T &x, const T &a, const T &b) { return x < a ? a : b < x ? b : x; }
template <class T> WW_HD void swap(T &, T &);
template <class T> WW_HD T exchange(T &, T);
template <class T> struct numeric_limits {
  WW_HD static constexpr T max() { return T(); }
  WW_HD static constexpr T min() { return T(); }
  WW_HD static constexpr T lowest() { return T(); }
  WW_HD static constexpr T epsilon() { return T(); }
  WW_HD static constexpr T infinity() { return T(); }
  WW_HD static constexpr T quiet_NaN() { return T(); }
  static constexpr bool is_integer = __is_integral(T), is_signed = __is_signed(T);
  static constexpr int digits = 0, digits10 = 0;
};

template <class T> class initializer_list {
public:
  constexpr initializer_list() : begin_(nullptr), size_(0) {}
  constexpr size_t size() const { return size_; }
  constexpr const T *begin() const { return begin_; }
  constexpr const T *end() const { return begin_ + size_; }
private:
  const T *begin_;
  size_t size_;
};
template <class A, class B> struct pair { A first; B second; pair(); pair(const A &, const B &); };
template <class A, class B> pair<decay_t<A>, decay_t<B>> make_pair(A &&, B &&);
template <class... T> struct tuple { tuple(); tuple(T...); template <class... U> tuple(const tuple<U...> &); template <class... U> tuple &operator=(const tuple<U...> &); };
template <class T> struct tuple_size;
template <class... T> struct tuple_size<tuple<T...>> { static constexpr size_t value = sizeof...(T); };
template <class A, class B> struct tuple_size<pair<A, B>> { static constexpr size_t value = 2; };
template <size_t I, class T> struct tuple_element;
template <size_t I, class T, class... U> struct tuple_element<I, tuple<T, U...>> : tuple_element<I - 1, tuple<U...>> {};
template <class T, class... U> struct tuple_element<0, tuple<T, U...>> { typedef T type; };
template <size_t I, class... T> typename tuple_element<I, tuple<T...>>::type &get(tuple<T...> &);
template <size_t I, class... T> const typename tuple_element<I, tuple<T...>>::type &get(const tuple<T...> &);
template <size_t I, class... T> typename tuple_element<I, tuple<T...>>::type &&get(tuple<T...> &&);
struct nullopt_t {}; constexpr nullopt_t nullopt{};
struct ww_ignore { template <class T> const ww_ignore &operator=(const T &) const; }; constexpr ww_ignore ignore{};
template <class... T> tuple<decay_t<T>...> make_tuple(T &&...);
template <class... T> tuple<T &...> tie(T &...);
template <class T, size_t N> struct array {
  T elements[N];
  WW_HD constexpr T &operator[](size_t i) { return elements[i]; }
  WW_HD constexpr const T &operator[](size_t i) const { return elements[i]; }
  WW_HD constexpr size_t size() const { return N; }
  WW_HD constexpr T *data() { return elements; }
  WW_HD constexpr const T *data() const { return elements; }
  T *begin(); T *end(); const T *begin() const; const T *end() const;
  void fill(const T &);
};
template <class T, class A = void> class vector {
public:
  typedef T value_type; typedef T *iterator; typedef const T *const_iterator;
  vector(); explicit vector(size_t); vector(size_t, const T &); vector(initializer_list<T>);
  template <class I> vector(I, I);
  T &operator[](size_t); const T &operator[](size_t) const; T &at(size_t); T &front(); T &back();
  const T &front() const; const T &back() const;
  T *data(); const T *data() const; size_t size() const; size_t capacity() const; bool empty() const;
  T *begin(); T *end(); const T *begin() const; const T *end() const; const T *cbegin() const; const T *cend() const;
  void push_back(const T &); template <class... B> T &emplace_back(B &&...); void pop_back();
  void resize(size_t); void resize(size_t, const T &); void reserve(size_t); void clear(); void assign(size_t, const T &);
  T *insert(const T *, const T &); T *erase(const T *); void swap(vector &); void shrink_to_fit();
  template <class I> void insert(const T *, I, I);
};
template <class T> class allocator {};
class string {
public:
  string(); string(const char *); string(size_t, char);
  const char *c_str() const; const char *data() const; size_t size() const; size_t length() const; bool empty() const;
  char &operator[](size_t); string substr(size_t, size_t = 0) const; size_t find(const string &, size_t = 0) const;
  string &operator+=(const string &); bool operator==(const string &) const; bool operator!=(const string &) const;
  bool operator<(const string &) const; void push_back(char); char *begin(); char *end();
  typedef size_t size_type; typedef char value_type;
  const char &operator[](size_t) const; const char *begin() const; const char *end() const; char &back(); char &front();
  char &at(size_t); int compare(const string &) const; int compare(size_t, size_t, const string &) const;
  size_t rfind(const string &, size_t = 0) const; size_t find(char, size_t = 0) const; size_t rfind(char, size_t = 0) const;
  size_t find_first_of(const string &, size_t = 0) const; size_t find_last_of(const string &, size_t = 0) const;
  size_t find_first_not_of(const string &, size_t = 0) const; size_t find_last_not_of(const string &, size_t = 0) const;
  string &erase(size_t = 0, size_t = 0); string &append(const string &); string &insert(size_t, const string &);
  string &replace(size_t, size_t, const string &); string &operator+=(char); void pop_back(); void clear(); void resize(size_t);
  static constexpr size_t npos = ~size_t(0);
};
typedef string string_view;
string operator+(const string &, const string &); string operator+(const string &, char);
template <class T> string to_string(T);
int stoi(const string &); long stol(const string &); unsigned long stoul(const string &); float stof(const string &); double stod(const string &);
class ostream {
public:
  template <class T> ostream &operator<<(const T &);
  ostream &operator<<(ostream &(*)(ostream &));
  ostream &write(const char *, long); ostream &flush(); explicit operator bool() const; int precision(int); int precision(); string str() const; bool good() const; bool fail() const; bool operator!() const;
};
class istream {
public:
  template <class T> istream &operator>>(T &);
  istream &read(char *, long); istream &seekg(long); long tellg(); explicit operator bool() const; bool is_open() const; void close();
  bool good() const; bool fail() const; bool eof() const; bool bad() const; bool operator!() const; istream &seekg(long, int); int get(); istream &ignore(long = 1, int = 0);
};
struct ofstream : ostream { ofstream(const string &, int = 0); bool is_open() const; void close(); };
struct ifstream : istream { ifstream(); ifstream(const string &, int = 0); void open(const string &, int = 0); };
struct fstream : istream { fstream(); fstream(const string &, int = 0); void open(const string &, int = 0); template <class T> fstream &operator<<(const T &); };
struct istringstream : istream { istringstream(const string &); };
struct ostringstream : ostream {};
struct stringstream : ostream { template <class T> stringstream &operator>>(T &); };
struct ios { static constexpr int binary = 4, in = 8, out = 16, ate = 2, app = 1, beg = 0, cur = 1, end = 2; };
typedef ios ios_base;
ostream &endl(ostream &); ostream &flush(ostream &); ostream &fixed(ostream &); ostream &scientific(ostream &); ostream &left(ostream &);
int setw(int); int setprecision(int); char setfill(char);
extern ostream cout, cerr, clog; extern istream cin;
istream &getline(istream &, string &);
class exception { public: virtual const char *what() const noexcept; };
struct runtime_error : exception { runtime_error(const string &); };
struct logic_error : exception { logic_error(const string &); };
struct invalid_argument : logic_error { using logic_error::logic_error; };
struct out_of_range : logic_error { using logic_error::logic_error; };
struct bad_alloc : exception {};
template <class T> struct default_delete { void operator()(T *) const; };
template <class T, class D = default_delete<T>> class unique_ptr {
public:
  unique_ptr(); unique_ptr(T *); unique_ptr(T *, D); T *get() const; T &operator*() const; T *operator->() const;
  T *release(); void reset(T * = nullptr); explicit operator bool() const;
};
template <class T, class D> class unique_ptr<T[], D> {
public:
  unique_ptr(); unique_ptr(T *); T *get() const; T &operator[](size_t) const; T *release(); void reset(T * = nullptr);
};
template <class T> class shared_ptr { public: typedef T element_type; shared_ptr(); shared_ptr(T *); template <class U> shared_ptr(const shared_ptr<U> &); T *get() const; T &operator*() const; T *operator->() const; explicit operator bool() const; void reset(); };
template <class T> class enable_shared_from_this { public: shared_ptr<T> shared_from_this(); };
template <class T, class U> shared_ptr<T> dynamic_pointer_cast(const shared_ptr<U> &); template <class T, class U> shared_ptr<T> static_pointer_cast(const shared_ptr<U> &);
template <class T> bool operator==(const shared_ptr<T> &, nullptr_t); template <class T> bool operator!=(const shared_ptr<T> &, nullptr_t);
template <class T, class... A> unique_ptr<T> make_unique(A &&...);
template <class T, class... A> shared_ptr<T> make_shared(A &&...);
template <class> class function;
template <class R, class... A> class function<R(A...)> { public: function(); template <class F> function(F); R operator()(A...) const; explicit operator bool() const; };
template <class T = void> struct plus { WW_HD T operator()(const T &, const T &) const; };
template <class T = void> struct less { WW_HD bool operator()(const T &, const T &) const; };
template <class T = void> struct greater { WW_HD bool operator()(const T &, const T &) const; };
template <class T = void> struct multiplies { WW_HD T operator()(const T &, const T &) const; };
template <> struct less<void> { template <class T, class U> bool operator()(const T &, const U &) const; };
template <> struct greater<void> { template <class T, class U> bool operator()(const T &, const U &) const; };
template <> struct plus<void> { template <class T, class U> auto operator()(const T &a, const U &b) const -> decltype(a + b); };
template <class K, class V> class map { public: map(); map(initializer_list<pair<const K, V>>); V &operator[](const K &); V &at(const K &); size_t count(const K &) const; size_t size() const; pair<const K, V> *begin(); pair<const K, V> *end(); pair<const K, V> *find(const K &); };
template <class K, class V> using unordered_map = map<K, V>;
template <class K> class set { public: size_t count(const K &) const; void insert(const K &); size_t size() const; const K *begin() const; const K *end() const; };
template <class T> class optional { public: optional(); optional(nullopt_t); optional(T); const T &operator*() const; const T *operator->() const; T value_or(T) const; T &operator*(); T *operator->(); T value() const; bool has_value() const; explicit operator bool() const; };
template <class I, class T> void fill(I, I, const T &);
template <class I, class T> void iota(I, I, T);
template <class I, class F> void generate(I, I, F);
template <class I> void sort(I, I);
template <class I, class C> void sort(I, I, C);
template <class I, class O> O copy(I, I, O);
template <class I, class T> T accumulate(I, I, T);
template <class I, class T, class F> T accumulate(I, I, T, F);
template <class I> I max_element(I, I);
template <class I> I min_element(I, I);
template <class I, class C> I max_element(I, I, C);
template <class I, class C> I min_element(I, I, C);
template <class I> pair<I, I> minmax_element(I, I);
template <class I, class T> I find(I, I, const T &);
template <class I, class F> I find_if(I, I, F);
template <class I, class F> bool any_of(I, I, F);
template <class I, class F> bool all_of(I, I, F);
template <class I, class F> bool none_of(I, I, F);
template <class I, class T> long count(I, I, const T &);
template <class I> long distance(I, I);
template <class I> I next(I, long = 1);
template <class I, class J> bool equal(I, I, J);
template <class I, class O, class F> O transform(I, I, O, F);
template <class I, class F> F for_each(I, I, F);
template <class I> void reverse(I, I);
template <class I, class G> void shuffle(I, I, G &&);
template <class C> auto begin(C &c) -> decltype(c.begin());
template <class C> auto end(C &c) -> decltype(c.end());
template <class C> constexpr auto size(const C &c) -> decltype(c.size());
template <class T, size_t N> constexpr size_t size(const T (&)[N]) { return N; }
class random_device { public: unsigned operator()(); };
class mt19937 { public: mt19937(unsigned = 0); unsigned operator()(); void seed(unsigned); };
typedef mt19937 default_random_engine, minstd_rand, mt19937_64;
template <class T = double> class uniform_real_distribution { public: uniform_real_distribution(T = 0, T = 1); template <class G> T operator()(G &); };
template <class T = int> class uniform_int_distribution { public: uniform_int_distribution(T = 0, T = 0); template <class G> T operator()(G &); };
template <class T = double> class normal_distribution { public: normal_distribution(T = 0, T = 1); template <class G> T operator()(G &); };
template <class T> class complex { public: WW_HD complex(T = 0, T = 0); WW_HD T real() const; WW_HD T imag() const; };
template <class T> class atomic { public: atomic(); atomic(T); T load() const; void store(T); T operator++(int); operator T() const; };
class thread { public: template <class F, class... A> thread(F, A...); void join(); static unsigned hardware_concurrency(); };
class mutex {};
template <class T> class lock_guard { public: lock_guard(T &); };
namespace chrono {
template <class R, class P = void> struct duration { duration(); template <class T> duration(T); R count() const; duration operator-(duration) const; duration operator+(duration) const; };
typedef duration<long> nanoseconds, microseconds, milliseconds, seconds;
struct time_point { nanoseconds operator-(time_point) const; nanoseconds time_since_epoch() const; };
struct steady_clock { typedef std::chrono::time_point time_point; static time_point now(); };
typedef steady_clock high_resolution_clock, system_clock;
template <class D, class T> D duration_cast(T);
}
typedef integral_constant<long, 1> milli; typedef integral_constant<long, 2> micro; typedef integral_constant<long, 3> nano;
}
