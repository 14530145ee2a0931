// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [
  .strictMemorySafety(),
  .treatWarning("StrictMemorySafety", as: .error),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("ExistentialAny"),
]

// `contains(_:)` of a text in a text brings an engine for regular expressions, a tenth of the daemon. Not
// for what apps in Swift link: a package with such flags cannot be depended on.
let lean =
  strict + [.unsafeFlags(["-Xfrontend", "-disable-implicit-string-processing-module-import"])]

// The handler is started for every link: Embedded Swift starts as fast as C does.
let embedded: [SwiftSetting] = [
  .enableExperimentalFeature("Embedded"),
  .unsafeFlags(["-wmo", "-Osize", "-no-static-stdlib"]),
  .strictMemorySafety(),
]

let package = Package(
  name: "deeplinkd",
  products: [
    .library(name: "DeeplinkApp", targets: ["DeeplinkApp"]),
    .executable(name: "deeplink-open", targets: ["deeplink-open"]),
    .executable(name: "deeplinkd", targets: ["deeplinkd"]),
    .executable(name: "deeplink", targets: ["deeplink"]),
  ],
  targets: [
    // C, below everything
    .systemLibrary(
      name: "CDeeplinkDBus", pkgConfig: "dbus-1", providers: [.apt(["libdbus-1-dev"])]),
    .systemLibrary(
      name: "CDeeplinkIDN2", pkgConfig: "libidn2", providers: [.apt(["libidn2-dev"])]),
    .systemLibrary(
      name: "CDeeplinkSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    .target(name: "CDeeplinkLinux"),
    .target(name: "CDeeplinkRE2", linkerSettings: [.linkedLibrary("re2")]),

    // what the programs are made of
    .target(name: "DeeplinkContract", swiftSettings: strict),
    .target(name: "DeeplinkLoop", dependencies: ["CDeeplinkLinux"], swiftSettings: strict),
    .target(
      name: "DeeplinkBus", dependencies: ["CDeeplinkDBus", "CDeeplinkLinux", "DeeplinkLoop"],
      swiftSettings: strict),
    .target(
      name: "DeeplinkWire", dependencies: ["DeeplinkBus", "DeeplinkContract"],
      swiftSettings: strict),
    .target(
      name: "DeeplinkRouting", dependencies: ["CDeeplinkRE2", "CDeeplinkIDN2"],
      swiftSettings: lean),
    .target(name: "DeeplinkStore", dependencies: ["CDeeplinkSQLite"], swiftSettings: lean),
    .target(
      name: "DeeplinkDesktop", dependencies: ["DeeplinkRouting"], swiftSettings: lean),
    .target(
      name: "DeeplinkActions",
      dependencies: [
        "CDeeplinkLinux", "DeeplinkLoop", "DeeplinkBus", "DeeplinkWire", "DeeplinkRouting",
        "DeeplinkDesktop",
      ],
      swiftSettings: lean),
    .target(
      name: "DeeplinkDaemon",
      dependencies: [
        "CDeeplinkLinux", "DeeplinkLoop", "DeeplinkBus", "DeeplinkContract", "DeeplinkWire",
        "DeeplinkRouting", "DeeplinkDesktop", "DeeplinkActions", "DeeplinkStore",
      ],
      swiftSettings: lean),
    .target(
      name: "DeeplinkCommandLine",
      dependencies: [
        "CDeeplinkLinux", "DeeplinkLoop", "DeeplinkBus", "DeeplinkContract", "DeeplinkWire",
        "DeeplinkRouting", "DeeplinkDesktop", "DeeplinkActions",
      ],
      swiftSettings: strict),

    // what apps are made with
    .target(
      name: "DeeplinkApp",
      dependencies: ["DeeplinkLoop", "DeeplinkBus", "DeeplinkContract", "DeeplinkWire"],
      swiftSettings: strict),

    // the programs, short
    .executableTarget(
      name: "deeplink-open", dependencies: ["CDeeplinkDBus", "CDeeplinkLinux"],
      swiftSettings: embedded, linkerSettings: [.unsafeFlags(["-no-static-stdlib"])]),
    .executableTarget(
      name: "deeplinkd", dependencies: ["DeeplinkDaemon"], swiftSettings: lean),
    .executableTarget(
      name: "deeplink", dependencies: ["DeeplinkCommandLine"], swiftSettings: strict),
    .executableTarget(
      name: "deeplink-example", dependencies: ["DeeplinkApp"],
      path: "data/examples/com.example.swift", exclude: ["plugin.json"], swiftSettings: strict),

    // tests
    .target(
      name: "DeeplinkTesting", dependencies: ["CDeeplinkLinux", "DeeplinkBus", "DeeplinkLoop"],
      path: "Tests/DeeplinkTesting"),
    .testTarget(
      name: "DeeplinkRoutingTests", dependencies: ["DeeplinkRouting", "DeeplinkTesting"]),
    .testTarget(
      name: "DeeplinkBusTests", dependencies: ["DeeplinkBus", "DeeplinkTesting"]),
    .testTarget(
      name: "DeeplinkActionsTests",
      dependencies: [
        "DeeplinkActions", "DeeplinkDesktop", "DeeplinkLoop", "DeeplinkRouting", "DeeplinkTesting",
      ]),
    .testTarget(
      name: "DeeplinkDaemonTests",
      dependencies: [
        "DeeplinkDaemon", "DeeplinkActions", "DeeplinkDesktop", "DeeplinkRouting", "DeeplinkBus",
        "DeeplinkLoop", "DeeplinkWire", "DeeplinkTesting",
      ]),
    .testTarget(
      name: "DeeplinkDesktopTests",
      dependencies: ["DeeplinkDesktop", "DeeplinkRouting", "DeeplinkTesting"]),
    .testTarget(
      name: "DeeplinkCommandLineTests",
      dependencies: [
        "DeeplinkCommandLine", "DeeplinkDesktop", "DeeplinkRouting", "DeeplinkTesting",
      ]),
    .testTarget(
      name: "DeeplinkAppTests",
      dependencies: [
        "DeeplinkApp", "DeeplinkLoop", "DeeplinkBus", "DeeplinkWire", "DeeplinkTesting",
      ]
    ),
    .testTarget(
      name: "EndToEndTests",
      dependencies: [
        "CDeeplinkLinux", "DeeplinkBus", "DeeplinkContract", "DeeplinkDesktop", "DeeplinkRouting",
        "DeeplinkTesting", "DeeplinkWire",
      ],
      exclude: ["Browsers", "Bus", "Documentation", "Hostile"]),
  ],
  swiftLanguageModes: [.v6],
  cxxLanguageStandard: .cxx17
)
