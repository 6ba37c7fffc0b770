import Foundation
import GraphQLSchema
import JSON
import Synchronization
import TestSupport
import Testing

/// Many clients at once, for whom many statements are on their way over few connections.
@Suite(.usesCluster) struct ConcurrencyTests {
  @Test func `everyone gets their own answer while all ask at once`() throws {
    let opinions = try SecondOpinion(seed: 77)
    struct Question: Sendable {
      let text: String
      let variables: JSONValue
      let token: String?
      let answer: [UInt8]
    }
    var questions: [Question] = []
    while questions.count < 250 {
      let operation = opinions.next()
      let text = operation.text
      // What depends on the moment is not the same twice.
      if text.contains("token") || text.contains("dataExport") { continue }
      let token = operation.viewer.map { "demo-" + $0 }
      let answer = try opinions.server.send(text, operation.variableValues, token: token)
      questions.append(
        Question(
          text: text, variables: operation.variableValues, token: token, answer: answer.body))
    }
    let wrong = Mutex<[String]>([])
    let server = opinions.server
    let asked = questions
    let group = DispatchGroup()
    for client in 0..<16 {
      group.enter()
      let thread = Thread {
        defer { group.leave() }
        for round in 0..<80 {
          // Each client in an order of its own.
          let question = asked[(client * 37 + round * (2 * client + 1)) % asked.count]
          var answer = try? server.send(question.text, question.variables, token: question.token)
          // A busy server may say so.
          for _ in 0..<100 where answer?.text.contains("SERVICE_OVERLOADED") == true {
            usleep(20_000)
            answer = try? server.send(question.text, question.variables, token: question.token)
          }
          if answer?.body != question.answer {
            wrong.withLock {
              $0.append("\(question.text)\n\(answer?.text.prefix(500) ?? "no answer")")
            }
          }
        }
      }
      thread.start()
    }
    group.wait()
    #expect(wrong.withLock { $0.prefix(2) } == [])
  }
}
