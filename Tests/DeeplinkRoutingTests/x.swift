import Testing
@Suite struct Placeholder { @Test func `the package builds`() { #expect(Bool(true)) } }
