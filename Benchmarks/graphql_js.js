// The workloads of benchmark-language, done by graphql-js (Debian's node-graphql).
// Usage: node graphql_js.js INPUTS   Reads "NAME" lines, answers each with microseconds or "none".
'use strict';
const fs = require('fs');
const path = require('path');
const graphql = require('/usr/share/nodejs/graphql');
const { getVariableValues } = require('/usr/share/nodejs/graphql/execution/values');

const directory = process.argv[2];
const read = (name) => fs.readFileSync(path.join(directory, name), 'utf8');
const text = {
  introspection: read('introspection.graphql'),
  q14: read('q14.graphql'),
  fields400: read('fields400.graphql'),
  large400: read('large400.graphql'),
  // This release does not know @oneOf yet.
  domain: 'directive @oneOf on INPUT_OBJECT\n' + read('domain-schema.graphql'),
  large: read('large-schema.graphql'),
};
const variables = JSON.parse(read('q14.variables.json'));
const domain = graphql.buildSchema(text.domain);
const large = graphql.buildSchema(text.large);

const parse = (source) => () => graphql.parse(source);
const print = (source) => {
  const document = graphql.parse(source);
  return () => graphql.print(document);
};
const validate = (source, schema) => {
  const document = graphql.parse(source);
  return () => {
    const errors = graphql.validate(schema, document);
    if (errors.length > 0) throw errors[0];
  };
};
const build = (source) => {
  const document = graphql.parse(source);
  return () => graphql.validateSchema(graphql.buildASTSchema(document));
};
const coerce = (source) => {
  const definitions = graphql.parse(source).definitions[0].variableDefinitions;
  return () => getVariableValues(domain, definitions, variables);
};

const workloads = {
  'parse introspection': parse(text.introspection),
  'parse Q14': parse(text.q14),
  'parse 400 fields': parse(text.fields400),
  'parse domain schema': parse(text.domain),
  'parse 1000 types': parse(text.large),
  'validate introspection': validate(text.introspection, domain),
  'validate Q14': validate(text.q14, domain),
  'validate 400 fields': validate(text.fields400, domain),
  'validate introspection, 1000 types': validate(text.introspection, large),
  'validate 400 fields, 1000 types': validate(text.large400, large),
  'coerce Q14': coerce(text.q14),
  'print Q14': print(text.q14),
  'print 400 fields': print(text.fields400),
  'build domain schema': build(text.domain),
  'build 1000 types': build(text.large),
};

function measure(run) {
  const start = process.hrtime.bigint();
  let runs = 0;
  for (let batch = 1; ; batch = Math.min(batch * 2, 1024)) {
    for (let index = 0; index < batch; ++index) run();
    runs += batch;
    const elapsed = Number(process.hrtime.bigint() - start) / 1000;
    if (elapsed > 50000) return elapsed / runs;
  }
}

require('readline').createInterface({ input: process.stdin }).on('line', (name) => {
  const run = workloads[name];
  process.stdout.write((run ? measure(run).toFixed(3) : 'none') + '\n');
});
