-- no statement

