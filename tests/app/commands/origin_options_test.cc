// What options about origins put into the plan of a content, and into links and manifests.
#include "client/app/commands/options/origin_options.h"

#include <doctest/doctest.h>

#include <cstdlib>

#include "client/app/commands/transfer/planning.h"
#include "proto/content/link.h"

namespace firn::app {
namespace {

// The AWS settings of whoever runs the tests are none of theirs.
void set_aws(const char* id, const char* secret) {
  for (const char* name : {"AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_REGION", "AWS_DEFAULT_REGION",
                           "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"})
    unsetenv(name);
  setenv("AWS_SHARED_CREDENTIALS_FILE", "/nowhere/credentials", 1);
  setenv("AWS_CONFIG_FILE", "/nowhere/config", 1);
  setenv("AWS_ACCESS_KEY_ID", id, 1);
  setenv("AWS_SECRET_ACCESS_KEY", secret, 1);
}

std::string refusal(const OriginOptions& options) {
  const auto urls = origins_to_publish(options);
  if (urls.ok()) return "";
  CHECK(urls.error().code == ErrorCode::kBadInput);
  return urls.error().message();
}

TEST_CASE("origins given by hand are in the plan, once each, with what goes along") {
  OriginPlan plan;
  const OriginOptions options{.urls = {"http://me:word@host/a", "https://b/", "https://b/"},
                              .hosts = {},
                              .headers = {"X: y"},
                              .endpoint = "",
                              .region = ""};
  REQUIRE(plan_origins(options, plan).ok());
  REQUIRE(plan.by_hand.size() == 2);
  CHECK(plan.by_hand[0].password() == "word");
  CHECK(plan.by_hand[1].is_folder());
  CHECK(plan.given.headers == std::vector<std::string>{"X: y"});
  CHECK(plan.given.netrc);
  CHECK(plan.given.proxies);
  CHECK_FALSE(plan.none);
}

TEST_CASE("AWS's settings are read for buckets alone, and options go before them") {
  set_aws("id", "word");
  const auto plan_of = [](const OriginOptions& options) {
    OriginPlan plan;
    REQUIRE(plan_origins(options, plan).ok());
    return plan;
  };
  OriginOptions options;
  options.urls = {"s3://b/key"};
  setenv("AWS_REGION", "eu-central-1", 1);
  CHECK(plan_of(options).given.aws->secret == "word");
  CHECK(plan_of(options).given.region == "eu-central-1");
  options.region = "eu-west-1";
  options.endpoint = "http://localhost:9000";
  CHECK(plan_of(options).given.region == "eu-west-1");
  CHECK(plan_of(options).given.endpoint == "http://localhost:9000");
  set_aws("id", "");  // half a key
  OriginPlan plan;
  const Status half = plan_origins(options, plan);
  REQUIRE_FALSE(half.ok());
  CHECK(half.error().code == ErrorCode::kBadInput);
  options.urls = {"https://b/"};
  options.hosts = {"host"};
  CHECK_FALSE(plan_of(options).given.aws.has_value());
}

TEST_CASE("a URL that holds a secret is not published, and no message repeats it") {
  for (const char* url : {"https://me:word@host/a", "https://host/a?X-Amz-Signature=word",
                          "https://host/a?sig=word&x=1"}) {
    OriginOptions options;
    options.urls = {url};
    const std::string message = refusal(options);
    CHECK(message.find("everybody") != std::string::npos);
    CHECK(message.find("word&") == std::string::npos);
    CHECK(message.find("=word") == std::string::npos);
    CHECK(message.find(":word") == std::string::npos);
  }
  OriginOptions many;
  for (int i = 0; i < 17; ++i) many.urls.push_back("https://host/" + std::to_string(i));
  CHECK(refusal(many).find("16") != std::string::npos);
  many.urls.pop_back();
  CHECK(refusal(many) == "");
}

TEST_CASE("a URL in place of a link is refused, and no message repeats a secret of it") {
  for (const char* url :
       {"https://me:hunter2@h:x/", "https://me:hunter2@h/a", "HTTP://hunter2@/",
        "https://me:hunter2@h:x/a.link", "https:/me:hunter2@h/", "ftp://hunter2@h/"}) {
    const auto source = read_source(url);
    REQUIRE_FALSE(source.ok());
    CHECK(source.error().code == ErrorCode::kBadInput);
    CHECK(source.error().message().find("hunter2") == std::string::npos);
  }
}

TEST_CASE("who names an origin in a network of their own hears that receivers do not ask it") {
  Manifest manifest;
  manifest.origins = {"https://host/", "http://192.168.1.2/x", "http://localhost/"};
  const auto advices = origin_advice(manifest);
  REQUIRE(advices.size() == 2);
  CHECK(advices[0].find("http://192.168.1.2/x only if they name it with --origin") !=
        std::string::npos);
  manifest.origins.resize(1);
  CHECK(origin_advice(manifest).empty());
  manifest.info.is_private = true;
  CHECK(origin_advice(manifest).size() == 1);
}

TEST_CASE("what is published fits a link, and the plan has the origins that a link names") {
  set_aws("", "");
  OriginOptions options;
  options.urls = {"https://host/b c", "https://host/b%20c", "s3://bucket/key/"};
  const auto urls = origins_to_publish(options);
  REQUIRE(urls.ok());
  CHECK(*urls == std::vector<std::string>{"https://host/b%20c", "s3://bucket/key/"});
  Link link;
  link.origins = *urls;
  const auto source = read_source(to_text(link));
  REQUIRE(source.ok());
  const auto plan = session_plan(*source, {}, "", ".");
  REQUIRE(plan.ok());
  CHECK(plan->origins.from_link == *urls);
  CHECK(plan->origins.by_hand.empty());
  CHECK_FALSE(can_come_from_origin(*plan));  // there is no manifest
}

TEST_CASE("a bucket is published so that a reader without the publisher's settings finds it") {
  set_aws("", "");
  OriginOptions options;
  options.urls = {"s3://bucket/key/", "https://host/"};
  options.region = "eu-west-1";
  CHECK(
      *origins_to_publish(options) ==
      std::vector<std::string>{"https://bucket.s3.eu-west-1.amazonaws.com/key/", "https://host/"});
  options.endpoint = "https://store.example";
  CHECK(origins_to_publish(options)->front() == "https://store.example/bucket/key/");
}

TEST_CASE("a folder is published with the URL of a folder alone") {
  const Status refused = check_origins_fit({"https://host/a/", "https://host/b"}, "/usr/");
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().message().find("https://host/b: usr is a folder") != std::string::npos);
  CHECK(check_origins_fit({"https://host/a/"}, "/usr").ok());
  CHECK(check_origins_fit({"https://host/b"}, "/no/such/file").ok());
}

TEST_CASE("a private content's origins are not in its link") {
  Info info;
  const std::vector<std::string> urls = {"https://host/"};
  CHECK(origins_for_link(info, urls) == urls);
  info.is_private = true;
  CHECK(origins_for_link(info, urls).empty());
}

}  // namespace
}  // namespace firn::app
