import GraphQLLanguage
import GraphQLResponse
import GraphQLSchema
import SQL

/// Compiles the root fields of a mutation. The selections of payloads are planned like those of
/// queries, so that they, too, omit what the viewer may not see.
struct CallCompiler {
  let mapping: StorageMapping
  let fragments: [String: FragmentDefinition]
  let reader: ArgumentReader
  let limits: PlannerLimits

  var schema: Schema { mapping.schema }

  func fields(
    of type: TypeID, _ selectionSet: SelectionSet
  ) throws(GraphQLError) -> [MutationField] {
    var fields: [MutationField] = []
    for field in compiler().collectFields(of: type, [selectionSet]) {
      let name = field.field.name.text
      if name == "__typename" {
        fields.append(
          .constant(
            FieldFrame(field.responseName, isNonNull: true),
            json: Array("\"\(schema[type].name)\"".utf8)))
        continue
      }
      guard let storage = mapping[type]?.fields[name] else { continue }
      guard case .call(let call) = storage.kind else {
        throw GraphQLError(
          "\(storage.coordinate) cannot be executed by this server yet.",
          locations: [reader.source.location(of: field.field.position)], code: .notImplemented)
      }
      let frame = FieldFrame(
        field.responseName, isNonNull: storage.definition.type.isNonNull)
      var arguments: FieldArguments
      do {
        arguments = try reader.arguments(
          of: field.field, storage.definition, takesWhole: call.takesWhole,
          rows: { call.write?.action == .insert ? UniformRows($0, mapping) : nil })
      } catch {
        fields.append(.refused(frame, error))
        continue
      }
      arguments.coordinate = storage.coordinate
      fields.append(.call(try plan(field, storage, call, arguments, frame)))
    }
    return fields
  }

  /// Returns the plan of a field without arguments, including required ones.
  ///
  /// - Parameter checked: the inputs of rows that other probes have checked.
  func probe(
    _ field: Field, _ storage: FieldStorage, _ call: CallStorage, _ checked: inout Set<TypeID>
  ) throws(GraphQLError) -> CallPlan {
    var arguments = FieldArguments()
    for argument in storage.definition.arguments {
      let value = call.write == nil ? nil : whole(argument.type, &checked)
      arguments.values.append((argument, value))
    }
    return try plan(
      SelectionCompiler.CollectedField(responseName: field.responseName, nodes: [field]), storage,
      call, arguments, FieldFrame(field.responseName, isNonNull: true))
  }

  /// Returns a value of an input type with every member, none of them in a filter. Of a list the last
  /// row has the rows inside.
  ///
  /// - Parameters:
  ///   - checked: the input types whose rows inside are checked. Each is checked once.
  ///   - depth: the number of rows around it.
  private func whole(
    _ type: TypeReference, _ checked: inout Set<TypeID>, depth: Int = 0
  ) -> ArgumentValue? {
    let input = type.namedType
    guard case .inputObject(let members, _) = schema[input].kind else { return nil }
    let isFilter = mapping.filter(input) != nil
    let object = ArgumentValue.object(
      members.filter { !isFilter && mapping.nestedInsert(of: $0) == nil }
        .map { ($0.name, sample(of: $0.type)) })
    var inner: [(name: String, value: ArgumentValue)] = []
    if depth < Self.maximumProbeDepth, checked.insert(input).inserted {
      for member in members where mapping.nestedInsert(of: member) != nil {
        guard let rows = whole(member.type, &checked, depth: depth + 1) else { continue }
        inner.append((member.name, rows))
      }
    }
    guard case .list = type.nullable else { return inner.isEmpty ? object : .object(inner) }
    return .list([object] + (inner.isEmpty ? [] : [.object(inner)]))
  }

  /// Inputs deeper inside are checked by another field, or not at all.
  private static let maximumProbeDepth = 4

  /// Returns a value that stands in a statement as values of the type do.
  private func sample(of type: TypeReference) -> ArgumentValue {
    let one: ArgumentValue
    switch schema[type.namedType].kind {
    case .enum(let values): one = values.first.map { .enum($0.name) } ?? .null
    case .scalar where schema[type.namedType].builtInScalar == .boolean: one = .boolean(true)
    default: one = .scalar(.constant(.null), value: .null)
    }
    guard case .list = type.nullable else { return one }
    if case .scalar = schema[type.namedType].kind {
      return .scalars(.constant(.null), values: [])
    }
    return .list([one])
  }

  /// Returns a new compiler for a statement. Parameters are numbered by statement.
  func compiler() -> SelectionCompiler {
    SelectionCompiler(
      mapping: mapping, fragments: fragments, reader: reader, limits: limits)
  }

  private func plan(
    _ field: SelectionCompiler.CollectedField, _ storage: FieldStorage, _ call: CallStorage,
    _ arguments: FieldArguments, _ frame: FieldFrame
  ) throws(GraphQLError) -> CallPlan {
    let payload = storage.definition.type.namedType
    let compiler = compiler()
    compiler.statement.signedIn = call.signsIn.map { member in
      "coalesce((\(ResultText.word)::jsonb ->> \(literal: member))::bigint, 0)"
    }
    let row = RowBuilder(alias: "")
    var scope = Scope()
    scope.variables[.result(key: nil)] = ResultText.word
    let isAnswered = call.write.map { answersAlone($0, payload, field, compiler) } ?? false
    if isAnswered, let write = call.write {
      scope.variables[.result(key: WriteStorage.count)] = Self.writtenCount
      scope.variables[.result(key: nil)] = rows(write)
    }
    let shape = try compiler.object(
      of: payload, selectionSets: field.selectionSets, row: row, scope: scope)
    let hasRecord = !row.columns.isEmpty
    let record = row.rowExpression
    let selection =
      hasRecord && !isAnswered ? finished("SELECT \(record)", compiler.statement) : nil
    let keepsAnswer = hasRecord && !call.makesSecret
    let prepared = preparedInputs(field.field, arguments)
    let (action, rows) = try action(
      call, field, arguments, prepared,
      answer: isAnswered ? (hasRecord ? record : Self.writtenCount, compiler) : nil)
    return CallPlan(
      frame: frame, definition: storage.definition, coordinate: storage.coordinate,
      transforms: prepared.transforms,
      call: action,
      selection: selection,
      recordColumn: hasRecord ? (isAnswered ? Self.resultColumn : 0) : nil,
      keeping: call.isOnce
        ? keeping(
          hasRecord ? record : nil, of: selection?.text, isKept: keepsAnswer, compiler.statement)
        : nil,
      replay: call.isOnce ? replay(of: selection?.text) : nil,
      again: call.again.map { statement($0, isClaimed: false, field.field, arguments, prepared) },
      shape: shape, refusal: try refusal(of: payload, field, compiler),
      makesSecret: call.makesSecret,
      mayEndOwnSession: call.mayEndOwnSession,
      mayEndSessions: call.mayEndOwnSession || call.endsSessions, write: call.write?.action,
      refusesAnonymous: call.refusesAnonymous,
      writtenMembers: call.write.map { WrittenMembers(mapping: mapping, write: $0) }, rows: rows)
  }

  private func action(
    _ call: CallStorage, _ field: SelectionCompiler.CollectedField, _ arguments: FieldArguments,
    _ prepared: PreparedInputs, answer: (record: SQLFragment, compiler: SelectionCompiler)?
  ) throws(GraphQLError) -> (PlannedStatement, [WrittenRow]) {
    switch call.action {
    case .function(let function):
      (statement(function, isClaimed: call.isOnce, field.field, arguments, prepared), [])
    case .rows(let write): try written(write, field, arguments, answer: answer)
    }
  }

  func finished(
    _ text: SQLFragment, _ statement: StatementBuilder
  ) -> PlannedStatement {
    let (finished, parameters) = statement.finished(text)
    return PlannedStatement(
      text: finished.text, parameters: parameters, places: statement.places(of: finished))
  }

  // MARK: - The call

  /// Returns `SELECT ..., set_config('sociograph.result', (f(...))::text, true), ...`. Later
  /// statements of the transaction read the function's result from the setting. The settings before
  /// it tell the function, and what it calls, who asks and in which language.
  private func statement(
    _ template: SQLTemplate, isClaimed: Bool, _ field: Field, _ arguments: FieldArguments,
    _ prepared: PreparedInputs
  ) -> PlannedStatement {
    let statement = StatementBuilder()
    let text = rendered(template, field, arguments, prepared, statement)
    var value: SQLFragment = "(\(text))::text"
    if isClaimed {
      // In one statement with the call, as its functions see what is committed by then.
      value = """
        CASE WHEN sociograph_claim(\(viewer(statement)), \(key(statement)), \
        \(reference(.bodyHash, statement))) THEN \(value) END
        """
    }
    return finished(settings(with: kept(result: value), statement), statement)
  }

  /// Returns an expression that sets the result for the transaction's later statements.
  func kept(result: SQLFragment) -> SQLFragment {
    "set_config('sociograph.result', \(result), true)"
  }

  /// The column that `settings(with:_:)` has the result in.
  static let resultColumn = 3

  /// Returns the statement that sets who asks, and then has the result.
  func settings(with result: SQLFragment, _ statement: StatementBuilder) -> SQLFragment {
    """
    SELECT set_config('sociograph.viewer', (\(viewer(statement)))::text, true), \
    set_config('sociograph.locale', \(statement.reference(.locale)), true), \
    set_config('sociograph.app', \(statement.reference(.app)), true), \
    \(result), \(flushing(statement))
    """
  }

  /// Returns an expression that turns synchronous commit off if the commit is flushed later.
  ///
  /// Otherwise, if the transaction has written nothing, the expression writes a WAL message. The
  /// commit then waits for the disk, and so for earlier commits whose rows the call may have read.
  private func flushing(_ statement: StatementBuilder) -> SQLFragment {
    """
    CASE WHEN \(reference(.flushesLater, statement)) THEN set_config('synchronous_commit', 'off', true) \
    WHEN pg_current_xact_id_if_assigned() IS NULL THEN pg_logical_emit_message(true, 'sociograph', '')::text END
    """
  }

  private func rendered(
    _ template: SQLTemplate, _ field: Field, _ arguments: FieldArguments,
    _ prepared: PreparedInputs, _ statement: StatementBuilder
  ) -> SQLFragment {
    let renderer = TemplateRenderer(mapping: mapping, statement: statement, id: .anyID)
    var scope = Scope()
    scope.coordinate = arguments.coordinate
    scope.arguments = arguments
    scope.variables[.result(key: nil)] = ResultText.word
    var text = SQLFragment()
    for piece in template.pieces {
      if case .variable(let path, _) = piece,
        let word = word(path, field, arguments, prepared, statement)
      {
        text.append(word)
      } else {
        renderer.append(piece, to: &text, scope)
      }
    }
    return text
  }

  /// Returns the transformations that directives require of the inputs before the call.
  private func preparedInputs(_ field: Field, _ arguments: FieldArguments) -> PreparedInputs {
    var prepared = PreparedInputs()
    for (definition, _) in arguments.values {
      let source = reader.source(of: definition, in: field) ?? .constant(.null)
      if let transform = transform(definition, source, field, arguments) {
        prepared.add(transform, at: [definition.name])
      }
      guard case .inputObject(let members, _) = schema[definition.type.namedType].kind else {
        continue
      }
      for member in members {
        guard let transform = transform(member, source.member(member.name), field, arguments)
        else { continue }
        prepared.add(transform, at: [definition.name, member.name])
      }
    }
    return prepared
  }

  private func transform(
    _ definition: InputValueDefinition, _ source: InputSource, _ field: Field,
    _ arguments: FieldArguments
  ) -> InputTransform? {
    let directives = definition.appliedDirectives
    if let password = directives.first(named: "password") {
      // That they are templates was seen when the schema was loaded.
      func lookup(_ argument: String) -> PlannedStatement? {
        guard let template = password.string(argument).flatMap({ try? SQLTemplate($0) }) else {
          return nil
        }
        let statement = StatementBuilder()
        let text = rendered(template, field, arguments, PreparedInputs(), statement)
        return finished("SELECT (\(text))::text", statement)
      }
      guard let known = lookup("of") else { return .newPassword(source, again: lookup("again")) }
      return .knownPassword(source, lookup: known)
    }
    if let token = directives.first(named: "identityToken") {
      let provider = token.string("provider").flatMap { arguments[$0]?.definition }
        .flatMap { reader.source(of: $0, in: field) }
      return .identityToken(source, provider: provider ?? .constant(.null))
    }
    if directives.first(named: "picture") != nil { return .picture(source) }
    return directives.first(named: "sealed") == nil ? nil : .sealed(source)
  }

  /// Returns the value of a word that only calls define: whole inputs as `jsonb`, transformed
  /// inputs, secrets, and the requester.
  private func word(
    _ path: [String], _ field: Field, _ arguments: FieldArguments, _ prepared: PreparedInputs,
    _ statement: StatementBuilder
  ) -> SQLFragment? {
    if let value = prepared[path] { return reference(.prepared(value), statement) }
    if let source = prepared.plain(path) {
      return statement.reference(
        .input(source, as: .text), of: InputPlace(arguments.coordinate, nil))
    }
    if path == ["arguments"] {
      var members: [InputSource.Member] = []
      for (definition, _) in arguments.values {
        guard !definition.isForServerAlone,
          let source = reader.source(of: definition, in: field)
        else { continue }
        members.append(InputSource.Member(name: definition.name, source: source))
      }
      let form = JSONForm.members(
        arguments.values.map { JSONForm.Member(name: $0.definition.name, type: $0.definition.type) }
      )
      return json(.object(members), form, InputPlace(arguments.coordinate, nil), statement)
    }
    guard let argument = arguments[path[0]] else {
      switch path {
      case ["secret"]: return reference(.secret, statement)
      case ["secretHash"]: return reference(.secretHash, statement)
      case ["sessionHash"]: return reference(.sessionHash, statement)
      case ["device"]: return reference(.device, statement)
      default: return nil
      }
    }
    if let type = type(at: path, from: argument.definition), case .enum = schema[type].kind,
      isNull(path, argument.value)
    {
      // A NULL has the type of the function's parameter.
      return "NULL"
    }
    guard path.count == 1, case .inputObject = schema[argument.definition.type.namedType].kind
    else { return nil }
    let place = InputPlace(
      "\(arguments.coordinate)(\(path[0]):)", arguments.positions[path[0]])
    return json(
      reader.source(of: argument.definition, in: field) ?? .constant(.null),
      .value(argument.definition.type), place, statement)
  }

  private func type(at path: [String], from definition: InputValueDefinition) -> TypeID? {
    var type = definition.type
    for step in path.dropFirst() {
      guard let field = schema[type.namedType].inputField(named: step) else { return nil }
      type = field.type
    }
    return type.namedType
  }

  private func isNull(_ path: [String], _ value: ArgumentValue?) -> Bool {
    path.dropFirst().reduce(value) { $0?[$1] }?.isNull ?? true
  }

  private func json(
    _ source: InputSource, _ form: JSONForm, _ place: InputPlace, _ statement: StatementBuilder
  ) -> SQLFragment {
    statement.reference(.input(source, as: .json(form)), of: place)
  }

  private func viewer(_ statement: StatementBuilder) -> SQLFragment {
    statement.mention(.viewer)
  }

  private func key(_ statement: StatementBuilder) -> SQLFragment {
    reference(.requestKey, statement)
  }

  private func reference(
    _ parameter: CallParameter, _ statement: StatementBuilder
  ) -> SQLFragment {
    statement.reference(.call(parameter))
  }

  // MARK: - The answer

  private func keeping(
    _ record: SQLFragment?, of selection: String?, isKept: Bool, _ statement: StatementBuilder
  ) -> PlannedStatement {
    let who: SQLFragment =
      "\(viewer(statement)), \(key(statement)), \(reference(.bodyHash, statement))"
    guard let record, let selection else {
      return finished("SELECT sociograph_keep(\(who), 0, NULL)", statement)
    }
    let answer: SQLFragment =
      isKept
      ? "CASE WHEN \(reference(.keepsAnswer, statement)) THEN record_send(record) END" : "NULL"
    return finished(
      """
      WITH answer AS MATERIALIZED (SELECT \(record) AS record)
      SELECT record, sociograph_keep(\(who), \(Int(Self.hash(of: selection))), \(answer)) FROM answer
      """, statement)
  }

  /// Returns the statement for a repeated request. The response is null if none was stored, or one
  /// of another selection.
  private func replay(of selection: String?) -> PlannedStatement {
    let statement = StatementBuilder()
    let hash = selection.map { Self.hash(of: $0) } ?? 0
    return finished(
      """
      SELECT r.answer, set_config('sociograph.result', r.result, true), \(flushing(statement))
      FROM sociograph_replay(\(viewer(statement)), \(key(statement)), \(Int(hash))) AS r
      """, statement)
  }

  /// Returns an FNV-1a hash as a `bigint`, which identifies the selection of a stored response.
  private static func hash(of text: String) -> Int64 {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }
    return Int64(truncatingIfNeeded: hash >> 1)
  }

  // MARK: - Refusals

  private func refusal(
    of payload: TypeID, _ field: SelectionCompiler.CollectedField, _ compiler: SelectionCompiler
  ) throws(GraphQLError) -> RefusalShape {
    var fields: [(key: [UInt8], value: RefusalShape.Value)] = []
    for member in compiler.collectFields(of: payload, field.selectionSets) {
      let key = Array("\"\(member.responseName)\":".utf8)
      guard let storage = mapping[payload]?.fields[member.field.name.text] else {
        fields.append((key, .constant(Array("\"\(schema[payload].name)\"".utf8))))
        continue
      }
      if case .userErrors = storage.kind {
        let type = storage.definition.type.namedType
        fields.append((key, .userErrors(userErrorFields(of: type, member, compiler))))
      } else {
        fields.append((key, .constant(Array((storage.refusedValue(in: schema) ?? "null").utf8))))
      }
    }
    return RefusalShape(fields: fields, messages: messages(of: payload))
  }

  private func userErrorFields(
    of type: TypeID, _ field: SelectionCompiler.CollectedField, _ compiler: SelectionCompiler
  ) -> [UserErrorField] {
    compiler.collectFields(of: type, field.selectionSets).map { member in
      let part = mapping[type]?.fields[member.field.name.text]?.userErrorPart
      return UserErrorField(
        key: Array("\"\(member.responseName)\":".utf8),
        part: part ?? .constant(Array("\"\(schema[type].name)\"".utf8)))
    }
  }

  /// Returns the messages by the codes of the payload's user errors.
  private func messages(of payload: TypeID) -> [String: String] {
    let errors = mapping[payload]?.fields.values.first { field in
      if case .userErrors = field.kind { true } else { false }
    }
    let type = errors?.definition.type.namedType
    let code = type.flatMap { mapping[$0] }?.fields.values.first { $0.userErrorPart == .code }
    guard let code, case .enum(let values) = schema[code.definition.type.namedType].kind else {
      return [:]
    }
    return Dictionary(
      values.map { ($0.name, $0.description ?? $0.name) }, uniquingKeysWith: { first, _ in first })
  }
}

extension FieldStorage {
  /// Returns the value of a payload's field if the mutation was refused; nil if it cannot have one.
  func refusedValue(in schema: Schema) -> String? {
    guard definition.type.isNonNull else { return "null" }
    switch definition.type.nullable {
    case .list: return "[]"
    case .named(let id): return schema[id].builtInScalar == .boolean ? "false" : nil
    case .nonNull: return nil
    }
  }

  /// The part of a user error that a field of its type shows, by the column that it names.
  var userErrorPart: UserErrorField.Part? {
    guard case .leaf(let template, nil) = kind else { return nil }
    switch template.source {
    case "this.code": return .code
    case "this.message": return .message
    case "this.path": return .path
    case "this.constraint": return .constraint
    case "this.min": return .min
    case "this.max": return .max
    default: return nil
    }
  }
}

extension ArgumentReader {
  /// Returns the source of an argument as the client gave it, with the schema's defaults; nil if it
  /// is absent.
  func source(of argument: InputValueDefinition, in field: Field) -> InputSource? {
    let given = field.arguments.first { $0.name.text == argument.name }
    return given.flatMap { source(of: $0.value, as: argument.type) }
      ?? argument.coercedDefault.map { .constant($0) }
  }

  /// Returns the source of a value; nil for a variable that was not given.
  private func source(of value: Value, as type: TypeReference) -> InputSource? {
    switch value.content {
    case .variable(let name):
      guard let index = variableIndices[name], variables[index] != nil else { return nil }
      return .variable(index, path: [])
    case .null: return .constant(.null)
    case .list(let items):
      guard case .list(let element) = type.nullable else { return .constant(.null) }
      return .list(items.map { source(of: $0, as: element) ?? .constant(.null) })
    case .object(let given):
      if case .list(let element) = type.nullable {
        return .list([source(of: value, as: element) ?? .constant(.null)])
      }
      guard case .inputObject(let fields, _) = schema[type.namedType].kind else {
        return .constant(.null)
      }
      var members: [InputSource.Member] = []
      for field in fields {
        let member = given.first { $0.name.text == field.name }
        let found =
          member.flatMap { source(of: $0.value, as: field.type) }
          ?? field.coercedDefault.map { .constant($0) }
        if let found { members.append(InputSource.Member(name: field.name, source: found)) }
      }
      return .object(members)
    case .int, .float, .string, .boolean, .enum:
      if case .list(let element) = type.nullable {
        return .list([source(of: value, as: element) ?? .constant(.null)])
      }
      return .constant(constant(value, schema[type.namedType].builtInScalar))
    }
  }

  private func constant(_ value: Value, _ scalar: BuiltInScalar?) -> InputValue {
    switch value.content {
    case .boolean(let flag): return .boolean(flag)
    case .enum(let name): return .enum(name)
    case .string(let string): return .string(string.text)
    case .int(let text), .float(let text): return InputValue(literal: text, scalar)
    case .null, .variable, .list, .object: return .null
    }
  }
}
