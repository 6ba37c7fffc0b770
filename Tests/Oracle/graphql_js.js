// Answers with what graphql-js (Debian's node-graphql) makes of each request; see graphql_core.py.
'use strict';
const {
  buildASTSchema, buildSchema, executeSync, getVariableValues, parse, print, printSchema, validate, validateSchema,
} = require('/usr/share/nodejs/graphql');
const { validateSDL } = require('/usr/share/nodejs/graphql/validation/validate.js');

function answerParse(source) {
  try {
    return { printed: print(parse(source, { noLocation: true })) };
  } catch (error) {
    if (error.name !== 'GraphQLError') return { failure: String(error) };
    // Columns in code points, as everywhere here; graphql-js counts UTF-16 units.
    const { line, column } = error.locations[0];
    const before = source.split(/\r\n|[\n\r]/g)[line - 1].slice(0, column - 1);
    return { message: error.message.toWellFormed(), line, column: Array.from(before).length + 1 };
  }
}

function answerSchema(source) {
  const document = parse(source);
  let errors = validateSDL(document);
  if (errors.length === 0) {
    try {
      const schema = buildASTSchema(document, { assumeValidSDL: true });
      errors = validateSchema(schema);
      if (errors.length === 0) return { printed: printSchema(schema) };
    } catch (error) {
      return { refused: String(error) };
    }
  }
  return { errors: errors.map(finding) };
}

function finding({ message, locations }) {
  return { message, locations: (locations ?? []).map(({ line, column }) => [line, column]) };
}

const schemas = new Map();

// {"op": "coerce", "schema": SDL, "document": TEXT, "variables": {...}}
//   -> {"values": {...}} or {"errors": [TEXT, ...]}
function answerCoerce({ schema, document, variables }) {
  if (!schemas.has(schema)) schemas.set(schema, buildSchema(schema));
  const definitions = parse(document).definitions[0].variableDefinitions;
  const { coerced, errors } = getVariableValues(
    schemas.get(schema), definitions, variables, { maxErrors: 50 });
  return errors ? { errors: errors.map(({ message }) => message) } : { values: coerced };
}

// {"op": "validate", "schema": SDL, "document": TEXT} -> {"errors": [E, ...]}
// {"op": "execute", ..., "root": JSON, "variables": {...}}
//   -> {"errors": [E, ...], "data": ...}, without data if it never came to execution
function answerDocument({ op, schema: text, document: source, root, variables }) {
  if (!schemas.has(text)) schemas.set(text, buildSchema(text));
  const schema = schemas.get(text);
  let document;
  let errors;
  try {
    document = parse(source);
    errors = validate(schema, document);
  } catch (error) {
    errors = [error];
  }
  if (errors.length > 0 || op === 'validate') return { errors: errors.map(finding) };
  const result = executeSync({ schema, document, rootValue: root, variableValues: variables });
  return { errors: (result.errors ?? []).map(finding), data: result.data };
}

function answer(request) {
  switch (request.op) {
    case 'validate': case 'execute': return answerDocument(request);
    case 'schema': return answerSchema(request.schema);
    case 'coerce': return answerCoerce(request);
    default: return answerParse(request.source);
  }
}

const lines = require('fs').readFileSync(0, 'utf8').split('\n').filter((line) => line !== '');
process.stdout.write(lines.map((line) => JSON.stringify(answer(JSON.parse(line))) + '\n').join(''));
