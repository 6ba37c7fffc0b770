import GraphQLPlanning
import GraphQLSchema
import Postgres
import SQL

/// Samples columns for values outside of their enum, if neither a type nor a constraint restricts
/// them: a bounded number of rows of each table.
struct EnumSampling {
  private struct Place {
    let coordinate: String
    let enumType: TypeDefinition
    /// The labels that some of its values have in SQL.
    let labels: [String]
    let relation: String
    let column: String
    let isArray: Bool
  }

  private let places: [Place]
  private let maximum: Int

  init(mapping: StorageMapping, catalog: DatabaseCatalog, rows: [DescribedRow], maximum: Int) {
    self.maximum = maximum
    var places: [Place] = []
    var known: Set<String> = []
    for row in rows {
      for (value, type, _) in row.values {
        guard case .leaf(.string, let reference) = value.kind,
          mapping.schema[reference.namedType].isEnum,
          let (relation, _, name) = catalog.column(of: value, in: row)
        else { continue }
        let base = catalog.base(of: type)
        let element = catalog.types[base]?.element
        guard !(catalog.types[element.map { catalog.base(of: $0) } ?? base]?.isEnum ?? false),
          relation.permittedValues(of: name) == nil,
          known.insert("\(relation.name).\(name) \(reference.namedType.index)").inserted
        else { continue }
        places.append(
          Place(
            coordinate: value.coordinate, enumType: mapping.schema[reference.namedType],
            labels: mapping.labels(of: reference.namedType).map(\.label),
            relation: relation.name, column: name, isArray: element != nil))
      }
    }
    self.places = places
  }

  var commands: [PipelinedCommand] {
    places.map { place in
      let value = place.isArray ? "unnest(s.value)" : "s.value"
      return .execute(
        """
        SELECT DISTINCT \(value)::text AS value, s.is_all FROM (
          SELECT t.\(SQLQuoting.name(place.column)) AS value, count(*) OVER () <= \(maximum) AS is_all
          FROM (SELECT \(SQLQuoting.name(place.column)) FROM \(place.relation) LIMIT \(maximum + 1)) AS t
        ) AS s
        LIMIT 1000
        """)
    }
  }

  func findings(_ answers: [Result<PipelinedAnswer, PostgresError>]) -> [StorageFinding] {
    zip(places, answers).compactMap { place, answer in
      let subject = "the column \(place.column) of \(place.relation)"
      let advice = "permit only its values by a CHECK constraint, or make it of an enum type."
      guard case .success(let answer) = answer else {
        return StorageFinding(
          .warning, place.coordinate,
          "\(subject) could not be looked into for values outside of \(place.enumType.name); "
            + advice)
      }
      let others = answer.rows.compactMap { $0[0] }
        .filter { place.enumType.enumValue(named: $0) == nil && !place.labels.contains($0) }
        .sorted()
      if !others.isEmpty {
        return StorageFinding(
          .error, place.coordinate,
          "\(subject) has \(quoted(others)), and \(place.enumType.name) has not; add to "
            + "\(place.enumType.name) what is missing, or map it with @sql(expression:).")
      }
      guard answer.rows.contains(where: { $0[1] == "f" }) else { return nil }
      return StorageFinding(
        .warning, place.coordinate,
        "\(subject) has more than \(maximum) rows, of which the first have no value outside of "
          + "\(place.enumType.name); " + advice)
    }
  }
}
