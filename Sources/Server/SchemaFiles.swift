import Foundation
import GraphQLLanguage
import GraphQLPlanning
import GraphQLResponse
import GraphQLSchema

/// Reads a folder of SDL files as one schema with its storage mapping.
package enum SchemaFiles {
  /// - Parameter isSubgraph: whether a gateway can ask it for its text, and for objects by their keys.
  /// - Throws: `CommandFailure` with one line per problem, each naming its file or coordinate.
  package static func load(
    _ directory: String, isSubgraph: Bool = false
  ) throws(CommandFailure) -> StorageMapping {
    let mapping = try load(directory, adding: "")
    return isSubgraph
      ? try load(directory, adding: SubgraphSchema.additions(to: mapping)) : mapping
  }

  private static func load(
    _ directory: String, adding more: String
  ) throws(CommandFailure) -> StorageMapping {
    var names: [String]
    do {
      names = try FileManager.default.contentsOfDirectory(atPath: directory)
    } catch {
      throw CommandFailure("the schema folder \"\(directory)\" cannot be read.")
    }
    names = names.filter { $0.hasSuffix(".graphql") }.sorted()
    guard !names.isEmpty else {
      throw CommandFailure("the schema folder \"\(directory)\" has no .graphql files.")
    }
    var text = StorageDirectives.sdl + "\n"
    var lineCounts = [(name: "storage directives", lines: lines(text))]
    var ends = [Position(offset: Int32(clamping: text.utf8.count))]
    var parts: [(name: String, text: String)] = []
    for name in names {
      guard let bytes = FileManager.default.contents(atPath: directory + "/" + name) else {
        throw CommandFailure("the schema file \"\(name)\" cannot be read.")
      }
      let own = String(decoding: bytes, as: UTF8.self)
      parts.append((name, own))
      let part = own + "\n"
      text += part
      lineCounts.append((name, lines(part)))
      ends.append(Position(offset: Int32(clamping: text.utf8.count)))
    }
    if !more.isEmpty {
      text += more
      lineCounts.append((name: "what --subgraph adds", lines: lines(more) + 1))
      ends.append(Position(offset: Int32(clamping: text.utf8.count)))
    }
    do {
      let document = try Parser.parse(Source(text), limits: .unlimited)
      let schema = try SchemaBuilder.build(SchemaCompletion.complete(document, fileEnds: ends))
      return try StorageMapping(schema)
    } catch let error as SyntaxError {
      throw syntaxFailure(parts) ?? failure([GraphQLError(error)], lineCounts)
    } catch let error as SchemaErrors {
      throw failure(error.errors, lineCounts)
    } catch {
      throw CommandFailure("\(error)")
    }
  }

  /// Returns the syntax errors of the files, each read alone: what one file leaves open is not
  /// reported in the next.
  private static func syntaxFailure(_ files: [(name: String, text: String)]) -> CommandFailure? {
    let errors = files.compactMap { file -> String? in
      do throws(SyntaxError) {
        _ = try Parser.parse(Source(file.text), limits: .unlimited)
        return nil
      } catch {
        // A file may have comments only.
        if (try? Parser.parse(Source(file.text + "\nscalar S"), limits: .unlimited)) != nil {
          return nil
        }
        let location = error.location
        return "\(file.name):\(location.line):\(location.column): \(error.message)"
      }
    }
    return errors.isEmpty ? nil : CommandFailure(errors.joined(separator: "\n"))
  }

  private static func lines(_ text: String) -> Int {
    text.utf8.reduce(0) { $0 + ($1 == UInt8(ascii: "\n") ? 1 : 0) }
  }

  /// Errors by file and line instead of by line of the joined text.
  private static func failure(
    _ errors: [GraphQLError], _ files: [(name: String, lines: Int)]
  ) -> CommandFailure {
    let texts = errors.map { error -> String in
      guard let location = error.locations.first else { return error.message }
      var line = location.line
      for file in files {
        if line <= file.lines { return "\(file.name):\(line):\(location.column): \(error.message)" }
        line -= file.lines
      }
      return error.message
    }
    return CommandFailure(texts.joined(separator: "\n"))
  }
}
