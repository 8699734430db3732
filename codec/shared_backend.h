// Several backends work on one batch: the devices of a host and its CPU, each on the share that its
// measured rate says (Shojania, Li, Wang, "Nuclei", 2009, section on CPU and GPU together; there
// the share was swept by hand). What fails on a device is done again by the CPU, so that a caller
// hears of no failure.
//
// Costs are learnt per shape from the batches themselves: a member that has not been measured
// gets one generation of the next batch, and one that was not used for long looks cheaper and
// cheaper until it is tried again. What was learnt can be taken out and given to a later run on the
// same machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "codec/backend.h"
#include "codec/measured_cost.h"

namespace firn::codec {

class SharedBackend final : public Backend {
 public:
  enum class Policy {
    kDevices,   // the CPU works only where devices cannot
    kMeasured,  // each member by its measured rate
  };
  // Runs the work and says how many seconds it took. Called on several threads at once.
  using Timer = std::function<double(const std::function<void()>& work)>;
  // A device is not asked again; on the thread that called encode() or decode().
  using Dropped = std::function<void(const std::string& device, const std::string& why)>;

  SharedBackend(std::vector<std::unique_ptr<Backend>> devices, std::unique_ptr<Backend> cpu,
                Policy policy, Dropped dropped, Timer timer = wall_clock());
  static Timer wall_clock();

  std::string name() const override;
  void prepare(std::size_t generation_size, std::size_t block_bytes) override;
  // kOk, but if the work brings no source blocks and the device that keeps them fails.
  BackendStatus encode(const EncodeWork& work) override;
  BackendStatus decode(std::span<GenerationWork> generations) override;
  // kOk: what a device that fails has not made stays as it is.
  BackendStatus make_sums(std::span<SumsWork> works) override;
  bool keeps(std::uint64_t generation_key) const override;
  std::size_t kept_bytes_max() const override;
  void forget(std::uint64_t generation_key) override;

  bool has_devices() const { return !devices_.empty(); }

  // How long a member takes for batches of a shape, by their generations (decode) or rows (encode).
  struct LearntCost {
    std::string member;  // Backend::name()
    bool encode = false;
    std::size_t generation_size = 0, block_bytes = 0;
    std::size_t count = 0;
    double seconds = 0;

    bool operator==(const LearntCost&) const = default;
  };
  // Of members with the same name, what the first knows.
  std::vector<LearntCost> learnt() const;
  // All members with that name begin with it. Before the first batch; count and seconds are > 0.
  void recall(std::span<const LearntCost> costs);

  struct Counts {  // of generations decoded and of rows encoded
    std::uint64_t decoded_by_devices = 0, decoded_by_cpu = 0;
    std::uint64_t encoded_by_devices = 0, encoded_by_cpu = 0;
    std::uint64_t decode_batches = 0;
    struct Device {
      std::string name;
      std::uint64_t decoded = 0, encoded = 0;
    };
    std::vector<Device> by_device;  // as given, also those dropped since
  };
  const Counts& counts() const { return counts_; }

 private:
  using ShapeKey = std::pair<std::size_t, std::size_t>;  // n, k
  struct Cost {
    MeasuredCost measured;
    double eagerness = 1;  // below 1 while unused
    double estimate(std::size_t count) const { return eagerness * measured.estimate(count); }
  };
  struct Costs {
    Cost decode, encode;
    bool prepared = false, unsupported = false;
  };
  struct Member {
    std::unique_ptr<Backend> backend;
    std::size_t index = 0;  // of a device: in counts().by_device
    std::map<ShapeKey, Costs> costs;
  };
  struct Share {
    Member* member = nullptr;
    std::size_t first = 0, count = 0;
    BackendStatus status;
    double seconds = 0;
  };

  void make_ready(const ShapeKey& shape);
  std::vector<Member*> candidates(const ShapeKey& shape);
  std::vector<Share> divide(const ShapeKey& shape, std::size_t count);
  void run(Share& share, std::span<GenerationWork> generations);
  BackendStatus decode_in_parts(Backend& backend, std::span<GenerationWork> generations,
                                double& seconds);
  void failed(Member& member, const ShapeKey& shape, const BackendStatus& status);
  void drop(const Member& member, const BackendStatus& status);
  Member* encoder_for(const EncodeWork& work);
  Member* keeper_of(std::uint64_t generation_key) const;

  std::vector<std::unique_ptr<Member>> devices_;
  Member cpu_;
  const Policy policy_;
  const Dropped dropped_;
  const Timer timer_;
  Counts counts_;
};

}  // namespace firn::codec
