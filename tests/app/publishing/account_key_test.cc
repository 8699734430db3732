#include "client/app/publishing/account_key.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <string>

#include "tests/app/temp_folder.h"

namespace firn::app {
namespace {

std::array<std::uint8_t, 32> counting_from(unsigned first) {
  std::array<std::uint8_t, 32> bytes;
  std::iota(bytes.begin(), bytes.end(), static_cast<std::uint8_t>(first));
  return bytes;
}

std::string hex(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) {
    text += "0123456789abcdef"[static_cast<std::uint8_t>(c) >> 4];
    text += "0123456789abcdef"[c & 15];
  }
  return text;
}

unsigned mode_of(const std::string& path) {
  struct stat status {};
  REQUIRE(::stat(path.c_str(), &status) == 0);
  return status.st_mode & 0777;
}

// The figures come from another implementation of HKDF and Ed25519 (Python's cryptography).
TEST_CASE("a content's key follows from the account's and the content") {
  const std::array<std::uint8_t, 32> secret = counting_from(0);
  const SigningKey account{SigningKey::Secret(secret)};
  const SigningKey key = content_key(account, ContentId{counting_from(0x40)});
  CHECK(hex(key.public_key().raw()) ==
        "eac7d2bb334119413262bb16c3fb7662de6eea08f6d00e7a03e093a2df802b79");
  CHECK(content_key(account, ContentId{counting_from(0x41)}).public_key() != key.public_key());
}

TEST_CASE("the secret of a private content follows from the account's and the content") {
  const std::array<std::uint8_t, 32> secret = counting_from(0);
  const SigningKey account{SigningKey::Secret(secret)};
  const ContentSecret made = content_secret(account, ContentId{counting_from(0x40)});
  const auto bytes = made.bytes();
  CHECK(hex({reinterpret_cast<const char*>(bytes.data()), bytes.size()}) ==
        "81dffd668041cc6f638f7888dfec15f7e555a66beef8f7fcb62307103fc58f37");
  CHECK_FALSE(content_secret(account, ContentId{counting_from(0x41)}) == made);
}

TEST_CASE("the account's key is made once, for its owner alone") {
  const tests::TempFolder folder;
  const std::string path = folder.path() + "/a/b/firn/account.pem";
  CHECK(load_account_key(path).error().code == ErrorCode::kNotFound);
  const auto made = load_or_make_account_key(path);
  REQUIRE(made.ok());
  CHECK(mode_of(path) == 0600);
  CHECK(mode_of(folder.path() + "/a/b/firn") == 0700);
  for (const auto& again : {load_or_make_account_key(path), load_account_key(path)}) {
    REQUIRE(again.ok());
    CHECK(again->public_key() == made->public_key());
  }
}

TEST_CASE("what stands in the place of the account's key is left alone") {
  const tests::TempFolder folder;
  const std::string path = folder.path() + "/account.pem";
  std::ofstream(path) << "something else";
  CHECK(load_or_make_account_key(path).error().code == ErrorCode::kBadInput);
  std::ifstream file(path);
  std::string text;
  std::getline(file, text);
  CHECK(text == "something else");

  CHECK_FALSE(load_or_make_account_key(path + "/account.pem").ok());  // a file for a folder
  CHECK(load_or_make_account_key("").error().code == ErrorCode::kNotFound);
}

}  // namespace
}  // namespace firn::app
