type Fields = Record<string, unknown>;

class Logger {
  constructor(private readonly name: string, private readonly sink: (line: string) => void = console.log) {}

  child(name: string): Logger {
    return new Logger(`${this.name}.${name}`, this.sink); //~ Logger logger.ts:Logger.constructor
  }

  info(text: string, fields?: Fields): void {
    this.write("info", text, fields); //~ write logger.ts:Logger.write
  }

  warn(text: string, fields?: Fields): void {
    this.write("warn", text, fields); //~ write logger.ts:Logger.write
  }

  private write(level: string, text: string, fields: Fields = {}): void {
    this.sink(JSON.stringify({ level, name: this.name, text, ...fields })); //~ sink -; stringify -
  }
}

export default new Logger("ledger"); //~ Logger logger.ts:Logger.constructor
export type { Logger };
