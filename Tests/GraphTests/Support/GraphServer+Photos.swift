import Foundation
import JSON
import Pictures
import TestSupport

/// Pictures as people have them, and their way to a server.
enum TestPictures {
  /// A folder of the process, for all servers: names of pictures are hashes.
  static let folder = Result { try TemporaryFolder() }

  static func service(
    store: PictureFolder? = nil, _ change: (inout PictureService.Settings) -> Void = { _ in }
  ) throws -> PictureService {
    var settings = PictureService.Settings()
    // A machine that is busy with many tests is no reason to refuse one.
    settings.making.maximumWait = .seconds(600)
    settings.making.maximumWaiting = 1_000
    settings.maker.time = .seconds(600)
    change(&settings)
    return PictureService(settings, store: try store ?? PictureFolder(folder.get().path))
  }
}

extension GraphServer {
  /// Sends bytes to `/photos`.
  func post(
    photo bytes: [UInt8], as person: Person?, headers: [(String, String)] = []
  ) throws -> HTTPClients.Response {
    var headers = headers
    if let person { headers.append(("Authorization", "Bearer \(person.token)")) }
    return try send("POST", "/photos", headers: headers, body: bytes)
  }

  /// Uploads a picture, as an application does first, and returns its URL, the input of
  /// `createPhoto`.
  func upload(
    _ bytes: [UInt8] = TestPicture.png(), as person: Person
  ) throws -> String {
    let response = try post(photo: bytes, as: person)
    guard response.status == 201,
      let url = try JSONParser.parse(response.body)["url"]?.string
    else { throw GraphTestFailure("the upload was refused: \(response.text)") }
    return url
  }

  /// Uploads a picture and registers it: the id of the photo, to be attached.
  ///
  ///     let photo = try server.uploadPhoto(as: ada)
  ///     try server.mutate("createOutfitPost(input: {photoIds: [$photo]})", "...",
  ///       ["photo: ID!": .string(photo)], as: ada)
  func uploadPhoto(
    _ bytes: [UInt8] = TestPicture.png(), as person: Person
  ) throws -> String {
    let url = try upload(bytes, as: person)
    let payload = try mutate(
      "createPhoto(input: {url: $url})", "photo { id }", ["url: URL!": .string(url)], as: person)
    guard let id = payload.at("photo.id")?.string else {
      throw GraphTestFailure("createPhoto gave no photo: \(payload)")
    }
    return id
  }

  /// Fetches the content at the URL of a photo.
  func photo(
    at url: String, headers: [(String, String)] = []
  ) throws -> HTTPClients.Response {
    guard let start = url.range(of: "/photos/") else {
      throw GraphTestFailure("no photo of this server: \(url)")
    }
    return try send("GET", String(url[start.lowerBound...]), headers: headers)
  }
}
