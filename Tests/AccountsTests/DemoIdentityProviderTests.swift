import Cryptography
import Foundation
import Testing

@testable import Accounts

/// The substitute for identity providers on demo data.
@Suite struct DemoIdentityProviderTests {
  private let folder = FileManager.default.temporaryDirectory
    .appendingPathComponent(UUID().uuidString)
  private let file: String

  init() throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    file = folder.appendingPathComponent("key.json").path
  }

  @Test func `its tokens are those of the provider they name, for as long as they say`() throws {
    let none = try DemoIdentityProvider(file: file)
    #expect(none == nil)
    try DemoIdentityProvider.create(file: file)
    let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
    #expect(mode == 0o600)
    let demo = try #require(try DemoIdentityProvider(file: file))
    let providers = IdentityProviders(demo: demo)
    let token = try #require(demo.token(for: "gr\"ace", at: "GOOGLE", now: 1_000_000))
    let google = try #require(providers.issuer(of: "GOOGLE"))
    let yahoo = try #require(providers.issuer(of: "YAHOO"))
    let read = try IdentityToken(token, from: google, now: 1_000_000)
    #expect(read.subject == "gr\"ace" && read.preferredUsername == "gr\"ace")
    #expect(read.email == nil && !read.isEmailVerified)
    #expect((try? IdentityToken(token, from: yahoo, now: 1_000_000)) == nil)
    #expect((try? IdentityToken(token, from: google, now: 1_003_600 + 60)) == nil)
    // Two of one moment are two.
    #expect(
      demo.token(for: "grace", at: "GOOGLE", now: 0)
        != demo.token(for: "grace", at: "GOOGLE", now: 0))
    try FileManager.default.removeItem(at: folder)
  }

  @Test func `a key that was made anew, or is none, is no key for earlier tokens`() throws {
    try DemoIdentityProvider.create(file: file)
    let token = try #require(
      try DemoIdentityProvider(file: file)?.token(for: "grace", at: "GOOGLE", now: 0))
    try FileManager.default.removeItem(atPath: file)
    try DemoIdentityProvider.create(file: file)
    let other = try #require(try DemoIdentityProvider(file: file))
    #expect((try? IdentityToken(token, from: other.issuer(of: "GOOGLE"), now: 0)) == nil)
    // A public half signs nothing.
    let publicHalf = try #require(SigningKey()?.json(withPrivateHalf: false))
    for text in ["", "{}", publicHalf] {
      try Data(text.utf8).write(to: URL(filePath: file))
      #expect(throws: DemoIdentityProvider.Fault.self) { try DemoIdentityProvider(file: file) }
    }
    try FileManager.default.removeItem(at: folder)
  }
}
