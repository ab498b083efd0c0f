class Progress {
  constructor(total) {
    this.total = total;
    this.done = 0;
  }

  tick() {
    this.done++;
    this.draw(); //~ draw progress.js:Progress.draw
  }

  draw() {
    process.stdout.write(`${this.done}/${this.total}\r`); //~ write -
  }
}

module.exports = Progress;
