// The lattice on any CPU, a node and a row at a time: the specification of the other sets.
#include "codec/kernels/lattice_kernels.h"

namespace firn::codec {
namespace {

template <class Number>
struct Scalar {
  using Real = Number;
  using Vector = Number;
  static constexpr std::size_t kLanes = 1;
  static constexpr int kRows = 1;

  static Vector load(const Real* in) { return *in; }
  static Vector load_any(const Real* in) { return *in; }
  static void store(Real* out, Vector v) { *out = v; }
  static void store_any(Real* out, Vector v) { *out = v; }
  static Vector zero() { return 0; }
  static Vector all(Real number) { return number; }
  static Vector add(Vector a, Vector b) { return a + b; }
  static Vector multiply(Vector a, Vector b) { return a * b; }
  static Vector multiply_add(Vector a, Vector b, Vector c) { return a * b + c; }
  static Vector sum_of_each(const Vector (&v)[kLanes]) { return v[0]; }
};

}  // namespace

const LatticeKernels kScalarLatticeKernels = {"scalar", lattice::operations<Scalar<float>>(),
                                              lattice::operations<Scalar<double>>()};

}  // namespace firn::codec
