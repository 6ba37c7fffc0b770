// Answers with what graphql-js (Debian's node-graphql) makes of each request; see graphql_core.py.
'use strict';
const { parse, print } = require('/usr/share/nodejs/graphql');

function answer({ source }) {
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

const lines = require('fs').readFileSync(0, 'utf8').split('\n').filter((line) => line !== '');
process.stdout.write(lines.map((line) => JSON.stringify(answer(JSON.parse(line))) + '\n').join(''));
