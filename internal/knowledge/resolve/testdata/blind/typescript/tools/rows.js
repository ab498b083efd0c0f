function parseRows(text) {
  return text.split("\n").map((line) => split(line)); //~ split -; map -; split#2 rows.js:split
}

const split = (line) => line.split(","); //~ split -

exports.check = function check(row) {
  if (!Array.isArray(row)) throw new TypeError("row"); //~ isArray -
};

exports.parseRows = parseRows;
