// The manifest file: magic, envelope, seal (SHA-256 over both). docs/formats.md draws it.
#include "proto/content/manifest.h"

#include <algorithm>

#include "proto/base/digest.h"
#include "proto/base/limits.h"
#include "proto/base/signature.h"
#include "proto/content/manifest_info.h"
#include "proto/content/origin_url.h"
#include "proto/content/publisher.h"
#include "proto/message_checks.h"
#include "proto/wire.h"
#include "proto/wire_fields.h"

namespace firn {
namespace {

using proto::as_bytes;

Error bad(ErrorCode code, std::string why) {
  return {code, "read the manifest", std::move(why)};
}

// The envelope's bytes in a file whose seal is whole.
Result<std::string_view> unseal(std::string_view file_bytes) {
  if (file_bytes.size() > limits::kManifestBytesMax)
    return bad(ErrorCode::kBadInput,
               "it is larger than " + std::to_string(limits::kManifestBytesMax) + " bytes");
  if (!file_bytes.starts_with(kManifestMagic))
    return bad(ErrorCode::kBadInput, "this is no manifest file (it does not begin with " +
                                         std::string(kManifestMagic) + ")");
  if (file_bytes.size() < kManifestMagic.size() + kIdBytes)
    return bad(ErrorCode::kCorrupt, "it is cut short");
  const std::string_view sealed = file_bytes.substr(0, file_bytes.size() - kIdBytes);
  if (sha256(as_bytes(sealed)).raw() != file_bytes.substr(sealed.size()))
    return bad(ErrorCode::kCorrupt,
               "its checksum does not fit: it is damaged, cut short or longer "
               "than it was; fetch it again");
  return sealed.substr(kManifestMagic.size());
}

Result<std::string> seal(const wire::Envelope& envelope) {
  std::string file(kManifestMagic);
  envelope.AppendToString(&file);
  file += sha256(as_bytes(file)).raw();
  if (file.size() > limits::kManifestBytesMax)
    return Error{ErrorCode::kBadInput, "make the manifest",
                 "it would have " + std::to_string(file.size()) + " bytes, more than " +
                     std::to_string(limits::kManifestBytesMax) +
                     "; choose larger generations or fewer files"};
  return file;
}

ContentId id_of(std::string_view info) {
  return *ContentId::from_bytes(sha256(as_bytes(info)).raw());
}

// What stands beside the info part has no id to prove it. The generated parser keeps each field
// that it does not know in an object of its own, so few of them may come.
bool envelope_fits(std::string_view bytes) {
  std::size_t count = 0, info_bytes = 0;
  proto::FieldReader fields(as_bytes(bytes));
  while (fields.next()) {
    if (++count > limits::kEnvelopeFieldsMax) return false;
    if (fields.is_bytes(wire::Envelope::kInfoFieldNumber)) info_bytes = fields.bytes().size();
  }
  return fields.ok() && bytes.size() - info_bytes <= limits::kEnvelopeBytesMax;
}

Status parse_envelope(std::string_view bytes, wire::Envelope& envelope) {
  if (!envelope_fits(bytes))
    return bad(ErrorCode::kBadInput, "its envelope is malformed, or has more than " +
                                         std::to_string(limits::kEnvelopeFieldsMax) +
                                         " fields or " + std::to_string(limits::kEnvelopeBytesMax) +
                                         " bytes beside the info part");
  if (!proto::count_fits(as_bytes(bytes), wire::Envelope::kTrackersFieldNumber,
                         limits::kTrackerCountMax))
    return bad(ErrorCode::kBadInput, "its envelope is malformed, or names more than " +
                                         std::to_string(limits::kTrackerCountMax) + " trackers");
  if (!proto::text_fits(as_bytes(bytes), wire::Envelope::kTrackersFieldNumber,
                        limits::kAddressBytesMax))
    return bad(ErrorCode::kBadInput, "a tracker's address is too long or not plain text");
  if (!proto::parse_wire(as_bytes(bytes), envelope) || envelope.info().empty())
    return bad(ErrorCode::kBadInput, "its envelope is malformed or has no info part");
  return Done{};
}

Result<std::vector<Address>> parse_trackers(const wire::Envelope& envelope) {
  std::vector<Address> trackers;
  for (const std::string& text : envelope.trackers()) {
    Result<Address> address = parse_address(text);
    if (!address.ok()) return bad(ErrorCode::kBadInput, address.error().message());
    if (!is_destination(*address))
      return bad(ErrorCode::kBadInput, "the tracker '" + text + "' has no host or no port");
    trackers.push_back(*std::move(address));
  }
  return trackers;
}

void set_trackers(const std::vector<Address>& trackers, wire::Envelope& envelope) {
  envelope.clear_trackers();
  for (const Address& tracker : trackers) envelope.add_trackers(to_text(tracker));
}

std::vector<std::string> urls_of(const wire::Envelope& envelope) {
  return {envelope.origins().begin(), envelope.origins().end()};
}

// Whether the publisher signed the origins, and there are some. `content`: the info's id.
bool origins_are_signed(const wire::Envelope& envelope, const ContentId& content) {
  return !envelope.origins().empty() &&
         signed_by(envelope.publisher_key(), origins_message(content, urls_of(envelope)),
                   envelope.origins_signature());
}

Status check_origins(const wire::Envelope& envelope, const ContentId& content) {
  if (urls_of(envelope).size() > limits::kOriginCountMax)
    return bad(ErrorCode::kBadInput,
               "it names more than " + std::to_string(limits::kOriginCountMax) + " origins");
  for (const std::string& url : envelope.origins())
    if (Status right = check_origin_text(url); !right.ok()) return right;
  if (!envelope.origins_signature().empty() && !origins_are_signed(envelope, content))
    return bad(ErrorCode::kCorrupt, "the publisher's key did not sign its origins");
  return Done{};
}

// A manifest with other things around the same info.
Result<Manifest> reseal(const wire::Envelope& envelope) {
  Result<std::string> file = seal(envelope);
  if (!file.ok()) return file.error();
  return parse_manifest(*file);
}

}  // namespace

Result<Manifest> make_manifest(const Info& info, const std::vector<Address>& trackers) {
  Info checked = info;
  if (Status status = check_info(checked); !status.ok()) return status.error();
  wire::Envelope envelope;
  envelope.set_info(info_to_bytes(checked));
  set_trackers(trackers, envelope);
  return reseal(envelope);
}

Result<Manifest> with_trackers(const Manifest& manifest, const std::vector<Address>& trackers) {
  const Result<std::string_view> bytes = unseal(manifest.file_bytes);
  if (!bytes.ok()) return bytes.error();
  wire::Envelope envelope;
  if (Status status = parse_envelope(*bytes, envelope); !status.ok()) return status.error();
  set_trackers(trackers, envelope);
  return reseal(envelope);
}

Result<Manifest> with_origins(const Manifest& manifest, const std::vector<std::string>& urls) {
  const Result<std::string_view> bytes = unseal(manifest.file_bytes);
  if (!bytes.ok()) return bytes.error();
  wire::Envelope envelope;
  if (Status status = parse_envelope(*bytes, envelope); !status.ok()) return status.error();
  for (const std::string& url : urls)
    if (Status right = check_origin_text(url); !right.ok()) return right.error();
  envelope.mutable_origins()->Assign(urls.begin(), urls.end());
  if (!origins_are_signed(envelope, manifest.id)) envelope.clear_origins_signature();
  return reseal(envelope);
}

Result<Manifest> sign_manifest(const Manifest& manifest, std::span<const std::uint8_t> secret_key) {
  const Result<std::string_view> bytes = unseal(manifest.file_bytes);
  if (!bytes.ok()) return bytes.error();
  wire::Envelope envelope;
  if (Status status = parse_envelope(*bytes, envelope); !status.ok()) return status.error();
  const Result<Publisher> publisher = sign_info(envelope.info(), secret_key);
  if (!publisher.ok()) return publisher.error();
  envelope.set_publisher_key(publisher->key);
  envelope.set_publisher_signature(publisher->signature);
  envelope.clear_origins_signature();
  if (!envelope.origins().empty())
    envelope.set_origins_signature(
        *sign(origins_message(manifest.id, urls_of(envelope)), secret_key));
  return reseal(envelope);
}

Result<Manifest> parse_manifest(std::string_view file_bytes) {
  const Result<std::string_view> bytes = unseal(file_bytes);
  if (!bytes.ok()) return bytes.error();
  wire::Envelope envelope;
  if (Status status = parse_envelope(*bytes, envelope); !status.ok()) return status.error();
  Result<Info> info = info_from_bytes(envelope.info());
  if (!info.ok()) return info.error();
  Result<std::vector<Address>> trackers = parse_trackers(envelope);
  if (!trackers.ok()) return trackers.error();
  const ContentId id = id_of(envelope.info());
  if (Status right = check_origins(envelope, id); !right.ok()) return right.error();

  Manifest manifest{.id = id,
                    .info = *std::move(info),
                    .trackers = *std::move(trackers),
                    .origins = urls_of(envelope),
                    .origins_signed = !envelope.origins_signature().empty(),
                    .publisher = {},
                    .file_bytes = std::string(file_bytes)};
  if (!envelope.publisher_key().empty() || !envelope.publisher_signature().empty()) {
    manifest.publisher = Publisher{envelope.publisher_key(), envelope.publisher_signature()};
    const Status good = check_publisher(*manifest.publisher, envelope.info());
    if (!good.ok()) return good.error();
  }
  return manifest;
}

Result<Manifest> parse_manifest(std::string_view file_bytes, const ContentId& expected) {
  // The id first: the rest of some other content's manifest is of no interest.
  const Result<ContentId> id = manifest_content_id(file_bytes);
  if (!id.ok()) return id.error();
  if (*id != expected)
    return bad(ErrorCode::kCorrupt,
               "it is of the content " + id->text() + ", not of " + expected.text());
  return parse_manifest(file_bytes);
}

Result<Manifest> parse_strangers_manifest(std::string_view file_bytes, const ContentId& expected) {
  const Result<ContentId> id = manifest_content_id(file_bytes);
  wire::Envelope envelope;
  if (!id.ok() || *id != expected || !parse_envelope(*unseal(file_bytes), envelope) ||
      !parse_trackers(envelope))
    return parse_manifest(file_bytes, expected);  // says why
  const bool is_signed =
      origins_are_signed(envelope, expected) && check_origins(envelope, expected);
  const bool has_origins = !envelope.origins().empty() || !envelope.origins_signature().empty();
  if (envelope.trackers().empty() && (is_signed || !has_origins)) return parse_manifest(file_bytes);
  envelope.clear_trackers();
  if (!is_signed) {
    envelope.clear_origins();
    envelope.clear_origins_signature();
  }
  return reseal(envelope);
}

Result<ContentId> manifest_content_id(std::string_view file_bytes) {
  const Result<std::string_view> bytes = unseal(file_bytes);
  if (!bytes.ok()) return bytes.error();
  std::span<const std::uint8_t> info;
  proto::FieldReader fields(as_bytes(*bytes));
  while (fields.next())
    if (fields.is_bytes(wire::Envelope::kInfoFieldNumber)) info = fields.bytes();
  if (!fields.ok() || info.empty())
    return bad(ErrorCode::kBadInput, "its envelope is malformed or has no info part");
  return id_of(proto::as_text(info));
}

PublicKey manifest_signer(std::string_view file_bytes) {
  if (!file_bytes.starts_with(kManifestMagic)) return {};
  file_bytes.remove_prefix(kManifestMagic.size());
  file_bytes.remove_suffix(std::min(file_bytes.size(), kIdBytes));
  std::optional<PublicKey> signer;
  proto::FieldReader fields(as_bytes(file_bytes));
  while (fields.next())
    if (fields.is_bytes(wire::Envelope::kPublisherKeyFieldNumber))
      signer = PublicKey::from_bytes(proto::as_text(fields.bytes()));
  return signer.value_or(PublicKey{});
}

std::string manifest_name(std::string_view first_bytes) {
  if (!first_bytes.starts_with(kManifestMagic)) return "";
  first_bytes.remove_prefix(kManifestMagic.size());
  const auto bytes = as_bytes(first_bytes);
  google::protobuf::io::CodedInputStream input(bytes.data(), static_cast<int>(bytes.size()));
  constexpr std::uint32_t kInfoTag = wire::Envelope::kInfoFieldNumber << 3 | 2;
  std::uint32_t info_bytes = 0;
  if (input.ReadTag() != kInfoTag || !input.ReadVarint32(&info_bytes)) return "";
  const auto info = bytes.subspan(static_cast<std::size_t>(input.CurrentPosition()));
  proto::FieldReader fields(info.first(std::min<std::size_t>(info.size(), info_bytes)));
  while (fields.next())
    if (fields.is_bytes(wire::Info::kNameFieldNumber))
      return std::string(proto::as_text(fields.bytes()));
  return "";
}

}  // namespace firn
