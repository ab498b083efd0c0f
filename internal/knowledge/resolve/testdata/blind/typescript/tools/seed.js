const { parseRows } = require("./rows");
const rows = require("./rows");
const Progress = require("./progress");

function seed(text) {
  const progress = new Progress(10); //~ Progress progress.js:Progress.constructor
  for (const row of parseRows(text)) { //~ parseRows rows.js:parseRows
    rows.check(row); //~ check rows.js:check
    progress.tick(); //~ tick progress.js:Progress.tick
  }
}

module.exports = seed;
