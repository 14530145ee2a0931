// The URL parser, the gate and the canonical form: no trap, and what they promise holds.
//
//     packaging/fuzz URL 120

@c(LLVMFuzzerTestOneInput)
public func fuzzOne(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  let bytes = unsafe Array(UnsafeBufferPointer(start: start, count: count))
  if let url = try? ParsedURL.parse(bytes) {
    guard let again = try? ParsedURL.parse(url.bytes), components(again) == components(url) else {
      fatalError("what is serialised does not parse to the same record")
    }
  }
  if let link = try? Link(admitting: bytes) {
    precondition(link.received == bytes && !link.remarks.contains { $0.description.isEmpty })
    let canonical = link.canonical
    precondition(canonical.canonical == canonical, "canonicalising the record again changes it")
    guard let again = try? Link(admitting: canonical.bytes),
      components(again.canonical) == components(canonical)
    else { fatalError("canonicalising twice changes something") }
    precondition(
      canonical.bytes.allSatisfy { ByteSet.canonical.contains($0) || "%#[]".utf8.contains($0) })
  }
  let text = String(decoding: bytes, as: UTF8.self)
  _ = try? URLComponentEncoder.scheme(text)
  _ = try? URLComponentEncoder.hostname(text)
  _ = try? URLComponentEncoder.port(text, scheme: "https")
  _ = URLComponentEncoder.pathname(text)
  _ = URLComponentEncoder.opaquePathname(text)
  _ = PercentEncoding.decodeStrict(bytes)
  return 0
}

private func components(_ url: ParsedURL) -> [String?] {
  [
    url.href, url.scheme, url.username, url.password, url.host, url.port.map { "\($0)" },
    url.path, url.query, url.fragment, "\(url.hasOpaquePath)",
  ]
}
