#include "client/app/origin/origin_choice.h"

#include <doctest/doctest.h>

#include <cstdlib>

#include "tests/app/origin/made_content.h"

namespace firn::app {
namespace {

PublicKey key(std::uint8_t first) {
  PublicKey made;
  made.bytes.fill(first);
  return made;
}

Manifest manifest_with(const std::vector<std::string>& origins) {
  Manifest manifest;
  manifest.info = tests::content_of({"a", "b"}, 4, 10).info;
  manifest.origins = origins;
  manifest.origins_signed = true;
  manifest.publisher = Publisher{std::string(32, '\7'), std::string(64, '\0')};
  return manifest;
}

// What the user of this machine has set up, secrets among it.
OriginPlan plan_with_secrets() {
  OriginPlan plan;
  plan.given.headers = {"Authorization: secret"};
  plan.given.netrc = plan.given.proxies = true;
  plan.given.aws = AwsKeys{"id", "secret", ""};
  return plan;
}

bool has_secrets(const OriginAccess& access) {
  return !access.headers.empty() || access.netrc || access.proxies || access.aws;
}

TEST_CASE("origins of a manifest count only if the publisher signed them whom the link names") {
  const Manifest manifest = manifest_with({"https://host.example/"});
  const OriginPlan plan;
  CHECK(choose_origins(plan, manifest, key(7)).origins.size() == 1);
  CHECK(choose_origins(plan, manifest, key(8)).origins.empty());
  CHECK(choose_origins(plan, manifest, std::nullopt).origins.empty());
  Manifest unsigned_origins = manifest;
  unsigned_origins.origins_signed = false;
  CHECK(choose_origins(plan, unsigned_origins, key(7)).origins.empty());
}

TEST_CASE("only what the user gave by hand gets credentials, and may be a private address") {
  OriginPlan plan = plan_with_secrets();
  plan.by_hand = {tests::url_of("http://10.0.0.1/x/")};
  plan.from_link = {"https://link.example/"};
  const auto origins =
      choose_origins(plan, manifest_with({"https://signed.example/"}), key(7)).origins;
  REQUIRE(origins.size() == 3);
  CHECK(origins[0].access->by_hand);
  CHECK(has_secrets(*origins[0].access));
  for (const std::size_t other : {1, 2}) {
    CHECK_FALSE(origins[other].access->by_hand);
    CHECK_FALSE(has_secrets(*origins[other].access));
  }
}

TEST_CASE("a named host gets credentials on its own port, and no private address") {
  OriginPlan plan = plan_with_secrets();
  plan.named_hosts = {"files.example", "other.example:8080"};
  const auto gets = [&](const std::string& text) {
    plan.from_link = {text};
    const auto origins = choose_origins(plan, manifest_with({}), std::nullopt).origins;
    REQUIRE(origins.size() == 1);
    CHECK_FALSE(origins[0].access->by_hand);
    return has_secrets(*origins[0].access);
  };
  CHECK(gets("https://files.example/"));
  CHECK(gets("https://FILES.example:443/x/"));
  CHECK(gets("http://other.example:8080/"));
  CHECK_FALSE(gets("http://files.example/"));  // read on the way
  CHECK_FALSE(gets("https://files.example:8443/"));
  CHECK_FALSE(gets("https://other.example/"));
  CHECK_FALSE(gets("https://files.example.evil.example/"));
  CHECK_FALSE(gets("https://files.example@evil.example/"));
}

TEST_CASE("a bucket is named by the host that it is asked at") {
  OriginPlan plan = plan_with_secrets();
  plan.from_link = {"s3://bucket/x/"};
  plan.given.endpoint = "https://store.example";
  // Amazon is not asked for a bucket that is elsewhere.
  const auto refused = [&] {
    const OriginChoice choice = choose_origins(plan, manifest_with({}), std::nullopt);
    return choice.origins.empty() && choice.refused.size() == 1 &&
           choice.refused[0].find("add --origin s3://bucket/x/") != std::string::npos;
  };
  CHECK(refused());
  plan.named_hosts = {"bucket"};
  CHECK(refused());
  plan.named_hosts = {"store.example"};
  const auto origins = choose_origins(plan, manifest_with({}), std::nullopt).origins;
  REQUIRE(origins.size() == 1);
  CHECK(has_secrets(*origins[0].access));
  plan.named_hosts.clear();
  plan.by_hand = {tests::url_of("s3://bucket/x/")};
  const OriginChoice by_hand = choose_origins(plan, manifest_with({}), std::nullopt);
  CHECK(by_hand.origins.size() == 1);
  CHECK(by_hand.refused.empty());
}

TEST_CASE("an endpoint of the environment counts for a bucket as an option does") {
  setenv("AWS_ENDPOINT_URL", "https://store.example", 1);
  OriginPlan plan;
  plan.from_link = {"s3://bucket/x/"};
  const OriginChoice choice = choose_origins(plan, manifest_with({}), std::nullopt);
  unsetenv("AWS_ENDPOINT_URL");
  CHECK(choice.origins.empty());
  CHECK(choice.refused.size() == 1);
}

TEST_CASE("broken AWS settings leave out the buckets of named hosts, and no other origin") {
  setenv("AWS_CONFIG_FILE", "/", 1);  // a folder
  OriginPlan plan;
  plan.named_hosts = {"files.example"};
  plan.from_link = {"https://files.example/", "s3://bucket/x/"};
  const OriginChoice choice = choose_origins(plan, manifest_with({}), std::nullopt);
  unsetenv("AWS_CONFIG_FILE");
  CHECK(choice.origins.size() == 1);
  REQUIRE(choice.refused.size() == 1);
  CHECK(choice.refused[0].find("/") != std::string::npos);
}

TEST_CASE("each URL is asked once, with the rights that it has by hand") {
  OriginPlan plan;
  plan.by_hand = {tests::url_of("https://host.example/a/")};
  plan.from_link = {"https://host.example/a/", "https://host.example/b/"};
  const auto origins =
      choose_origins(plan, manifest_with({"https://host.example/b/"}), key(7)).origins;
  REQUIRE(origins.size() == 2);
  CHECK(origins[0].access->by_hand);
  CHECK(origins[1].url.text() == "https://host.example/b/");
}

TEST_CASE("what cannot be used is refused with a reason; with --no-origin nothing is used") {
  OriginPlan plan;
  plan.by_hand = {tests::url_of("https://host.example/no-folder")};
  plan.from_link = {"gopher://host.example/"};
  const OriginChoice choice = choose_origins(plan, manifest_with({}), std::nullopt);
  CHECK(choice.origins.empty());
  CHECK(choice.refused.size() == 2);
  plan.from_link = {"https://host.example/"};
  plan.none = true;
  const OriginChoice none = choose_origins(plan, manifest_with({"https://x.example/"}), key(7));
  CHECK(none.origins.empty());
  CHECK(none.refused.empty());
}

}  // namespace
}  // namespace firn::app
