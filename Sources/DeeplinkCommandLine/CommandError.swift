import DeeplinkBus
import DeeplinkContract
import DeeplinkDesktop
import DeeplinkRouting
import DeeplinkWire

/// Why a command did not do what was asked, as facts; `CommandError+Text.swift` makes the sentences.
enum CommandError: Error {
  // Usage
  /// `deeper`: the command that has one of that name.
  case unknownCommand(String, of: String, known: [String], deeper: String?)
  case missingCommand(of: String, known: [String])
  case unknownOption(String, of: String, known: [String])
  case missingValue(Option)
  case unexpectedValue(Option)
  case invalidNumber(Option, String, ClosedRange<Int>)
  case unknownValue(Option, String, known: [String])
  case missingArgument(String, of: String)
  case tooManyArguments(String, for: String)
  case contradiction(String)

  // Files
  case unreadable(path: String, reason: String)
  case unwritable(reason: String)
  case invalidManifest([Diagnostic])
  case unknownPlugin(String, known: [String])
  case unknownGrant(String, known: [String])
  case grants(String)
  /// The history has none with this number.
  case noEntry(String)
  /// The link of an entry cannot be made anew: its number, and why not.
  case notReplayable(String, String, hint: String?)
  case unknownScheme(String, known: [String])
  case notChanged(PersonFile.Failure)
  /// Another program is changing it, and does not end.
  case registrationIsBusy
  case damagedRecord(Registration.Damaged)
  case noOpener(String)
  /// Its path cannot stand in a desktop entry.
  case unusableOpener(String)
  /// A package's plugin, which is not the person's to remove.
  case packaged(PluginID, folder: String)
  case notAgreed(PluginID)
  /// Nobody can be asked.
  case agreementNeeded(PluginID)

  // The daemon
  case noSessionBus(String)
  case unreachable(String, isInstalled: Bool)
  case lost
  case refused(Refusal)
  case outcome(OpenReply)
}
