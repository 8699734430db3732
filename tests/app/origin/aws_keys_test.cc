#include "client/app/origin/aws_keys.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "tests/app/temp_folder.h"

using namespace firn;
using namespace firn::app;

namespace {

// A home with the two files; `variables` over it.
class Home {
 public:
  Home(const std::string& credentials, const std::string& config) {
    std::filesystem::create_directory(folder_.path() + "/.aws");
    if (!credentials.empty()) std::ofstream(folder_.path() + "/.aws/credentials") << credentials;
    if (!config.empty()) std::ofstream(folder_.path() + "/.aws/config") << config;
  }
  const std::string& path() const { return folder_.path(); }

  Result<AwsSettings> read(std::map<std::string, std::string> variables = {}) const {
    variables.emplace("HOME", folder_.path());
    return read_aws_settings([variables](const char* name) {
      const auto found = variables.find(name);
      return found == variables.end() ? std::string() : found->second;
    });
  }

 private:
  tests::TempFolder folder_;
};

const std::string kCredentials =
    "# of mine\n[default]\naws_access_key_id = ID1\naws_secret_access_key=S/1=\r\n\n"
    "[work]\naws_access_key_id=ID2\naws_secret_access_key=S2\naws_session_token=T2\n";
const std::string kConfig =
    "[default]\nregion = eu-west-1\ns3 =\n  region = nested\n[profile work]\nregion=us-west-2\n"
    "endpoint_url = https://s3.work.example\n";

}  // namespace

TEST_CASE("keys, region and endpoint come from the files of AWS's tools, by profile") {
  const Home home(kCredentials, kConfig);
  const auto usual = home.read();
  REQUIRE(usual.ok());
  CHECK(usual->keys == AwsKeys{"ID1", "S/1=", ""});
  CHECK(usual->region == "eu-west-1");
  CHECK(usual->endpoint == "");
  const auto work = home.read({{"AWS_PROFILE", "work"}});
  REQUIRE(work.ok());
  CHECK(work->keys == AwsKeys{"ID2", "S2", "T2"});
  CHECK(work->region == "us-west-2");
  CHECK(work->endpoint == "https://s3.work.example");
}

TEST_CASE("variables of the environment win over files") {
  const Home home(kCredentials, kConfig);
  const auto settings = home.read({{"AWS_ACCESS_KEY_ID", "E"},
                                   {"AWS_SECRET_ACCESS_KEY", "ES"},
                                   {"AWS_DEFAULT_REGION", "second"},
                                   {"AWS_REGION", "first"},
                                   {"AWS_ENDPOINT_URL", "http://second"},
                                   {"AWS_ENDPOINT_URL_S3", "http://first"}});
  REQUIRE(settings.ok());
  CHECK(settings->keys == AwsKeys{"E", "ES", ""});
  CHECK(settings->region == "first");
  CHECK(settings->endpoint == "http://first");
}

TEST_CASE("files of other names are read where variables name them") {
  const Home home("", "");
  std::ofstream(home.path() + "/mine") << kCredentials;
  const auto settings = home.read({{"AWS_SHARED_CREDENTIALS_FILE", "~/mine"}});
  REQUIRE(settings.ok());
  REQUIRE(settings->keys);
  CHECK(settings->keys->id == "ID1");
}

TEST_CASE("without keys there are none, and that is no error") {
  const Home home("", "");
  const auto settings = home.read();
  REQUIRE(settings.ok());
  CHECK_FALSE(settings->keys);
  CHECK(settings->region == "");
}

TEST_CASE("half of a pair of keys and a profile that is nowhere are errors that show no key") {
  const Home home("[default]\naws_secret_access_key=hidden\n", "");
  const auto half = home.read();
  REQUIRE_FALSE(half.ok());
  CHECK(half.error().message().find("without its id") != std::string::npos);
  CHECK(half.error().message().find("hidden") == std::string::npos);
  CHECK_FALSE(home.read({{"AWS_ACCESS_KEY_ID", "E"}}).ok());
  const auto nowhere = home.read({{"AWS_PROFILE", "none"}});
  REQUIRE_FALSE(nowhere.ok());
  CHECK(nowhere.error().message().find("'none'") != std::string::npos);
}
