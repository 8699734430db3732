#include <doctest/doctest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "proto/base/digest.h"
#include "proto/transport/identity.h"
#include "proto/transport/identity_impl.h"

namespace firn::proto::transport {
namespace {

struct TemporaryFolder {
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "firn-identity-XXXXXX");
    path = ::mkdtemp(pattern.data());
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path); }
  std::filesystem::path path;
};

TEST_CASE("two generated identities differ") {
  const auto one = Identity::generate();
  const auto two = Identity::generate();
  REQUIRE(one.ok());
  REQUIRE(two.ok());
  CHECK(one->id() != two->id());
}

TEST_CASE("the peer id is SHA-256 of the raw public key in the certificate") {
  const auto identity = Identity::generate();
  REQUIRE(identity.ok());
  EVP_PKEY* key = X509_get0_pubkey(identity->impl().certificate.get());
  std::array<std::uint8_t, 32> raw{};
  std::size_t bytes = raw.size();
  REQUIRE(EVP_PKEY_get_raw_public_key(key, raw.data(), &bytes) == 1);
  PeerId expected;
  std::size_t digest_bytes = 0;
  REQUIRE(EVP_Q_digest(nullptr, "SHA256", nullptr, raw.data(), raw.size(), expected.bytes.data(),
                       &digest_bytes) == 1);
  CHECK(identity->id() == expected);
  CHECK(X509_verify(identity->impl().certificate.get(), key) == 1);
}

TEST_CASE("an identity file is made once, private, and read again") {
  const TemporaryFolder folder;
  const std::string path = folder.path / "identity.pem";
  const auto made = Identity::load_or_create(path);
  REQUIRE(made.ok());
  struct stat status {};
  REQUIRE(::stat(path.c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0600);
  const auto read = Identity::load_or_create(path);
  REQUIRE(read.ok());
  CHECK(read->id() == made->id());
  // Nothing but the key is left in the folder.
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path), {}) == 1);
}

TEST_CASE("a file that is no Ed25519 key is refused and left as it is") {
  const TemporaryFolder folder;
  const std::string path = folder.path / "identity.pem";
  SUBCASE("rubbish") {
    std::ofstream(path) << "not a key\n";
  }
  SUBCASE("an empty file") {
    std::ofstream(path) << "";
  }
  SUBCASE("a key of another kind") {
    const EvpKeyPtr key(EVP_PKEY_Q_keygen(nullptr, nullptr, "X25519"));
    FILE* file = std::fopen(path.c_str(), "w");
    REQUIRE(PEM_write_PKCS8PrivateKey(file, key.get(), nullptr, nullptr, 0, nullptr, nullptr));
    std::fclose(file);
  }
  SUBCASE("an encrypted key") {
    const auto identity = Identity::generate();
    REQUIRE(identity.ok());
    FILE* file = std::fopen(path.c_str(), "w");
    std::string secret = "secret";
    REQUIRE(PEM_write_PKCS8PrivateKey(file, identity->impl().key.get(), EVP_aes_128_cbc(),
                                      secret.data(), static_cast<int>(secret.size()), nullptr,
                                      nullptr));
    std::fclose(file);
  }
  const auto before = std::filesystem::file_size(path);
  const auto result = Identity::load_or_create(path);
  REQUIRE_FALSE(result.ok());
  CHECK(result.error().code == ErrorCode::kBadInput);
  CHECK(result.error().message().find(path) != std::string::npos);
  CHECK(std::filesystem::file_size(path) == before);
}

TEST_CASE("a folder in place of the identity file cannot be read") {
  const TemporaryFolder folder;
  const auto result = Identity::load_or_create(folder.path);
  REQUIRE_FALSE(result.ok());
  CHECK(result.error().code == ErrorCode::kIo);
  CHECK(result.error().message().find("folder") != std::string::npos);
}

TEST_CASE("an identity in a folder that does not exist is an error that names the file") {
  const TemporaryFolder folder;
  const std::string path = folder.path / "missing" / "identity.pem";
  const auto result = Identity::load_or_create(path);
  REQUIRE_FALSE(result.ok());
  CHECK(result.error().code == ErrorCode::kNotFound);
  CHECK(result.error().message().find(path) != std::string::npos);
}

}  // namespace
}  // namespace firn::proto::transport
