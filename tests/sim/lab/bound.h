// The fluid lower bound of a run in the laboratory: no schedule ends earlier, if content
// were a fluid and every uplink full from the first moment.
#pragma once

namespace firn::sim {

struct LabRun;

// Seconds. Before a run (no peer has gone, nothing has finished) it is
//   T >= max(F / u_s, F / d_min, N F / (u_s + sum u_i)).
// Where peers want parts W_i (all there from the first moment), it is
//   T >= max(|union W_i| / u_s, |W_i| / d_i, sum |W_i| / (u_s + sum u_i)).
// After a run it is the bound of the capacity that remained: with what left or crashed counted
// until then. Peers that crash before they are complete take their share of what was sent until
// then with them.
double fluid_bound(const LabRun& run);

}  // namespace firn::sim
