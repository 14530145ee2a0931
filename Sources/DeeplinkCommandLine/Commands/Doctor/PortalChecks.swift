import DeeplinkBus
import DeeplinkDesktop
import DeeplinkRouting

/// The doctor's look at what a portal remembers.
///
/// Who was chosen three times in a portal's window is opened by it from then on without a word, whatever
/// the lists say since, and though it claims the scheme no more. Chromium and what runs in Flatpak come
/// that way.
struct PortalChecks {
  private let context: Context
  private static let store = "org.freedesktop.impl.portal.PermissionStore"
  private static let path = "/org/freedesktop/impl/portal/PermissionStore"

  init(_ context: Context) { self.context = context }

  /// - Parameter names: Those on the bus, and those that it can start.
  func all(_ names: [String], _ wanted: String?) -> [Check] {
    guard names.contains(Self.store) else { return [] }
    let table = context.table(of: context.plugins())
    return table.schemes.filter { wanted == nil || $0.text == wanted }.flatMap { scheme in
      let ours = table.owner(of: scheme).map { HandlerEntry.id(of: $0.id) }
      return remembered(scheme).filter { $0.entry != ours }.map { choice -> Check in
        let source =
          choice.application.isEmpty ? "programs outside of sandboxes" : choice.application
        return .bad(
          "portal",
          "the portal opens \(choice.entry) for links of \(source), which was chosen often enough",
          scheme: scheme.text,
          mend: "gdbus call --session --dest \(Self.store) --object-path \(Self.path) --method "
            + "\(Self.store).Delete desktop-used-apps \(scheme.mimeType)")
      }
    }
  }

  private struct Choice: Sendable {
    let application: String
    let entry: String
  }

  /// The choices that a portal does not ask about any more (xdg-desktop-portal, open-uri.c).
  private func remembered(_ scheme: Scheme) -> [Choice] {
    let reply = try? Session.perform("asking what portals remember") {
      connection throws(BusError) in
      try await connection.call(
        MethodCall(
          to: .wellKnown("org.freedesktop.impl.portal.PermissionStore"),
          path: "/org/freedesktop/impl/portal/PermissionStore",
          interface: "org.freedesktop.impl.portal.PermissionStore", member: "Lookup",
          arguments: [.string("desktop-used-apps"), .string(scheme.mimeType)]),
        timeout: .seconds(5))
    }
    guard case .dictionary(_, _, let entries)? = reply?.first else { return [] }
    return entries.compactMap { entry in
      // The application's id without suffix, how often, and how often is enough.
      guard let application = entry.key.string, let facts = entry.value.strings, facts.count >= 3,
        let count = Int(facts[1]), let enough = Int(facts[2]), count >= enough
      else { return nil }
      return Choice(application: application, entry: "\(facts[0]).desktop")
    }
  }
}
