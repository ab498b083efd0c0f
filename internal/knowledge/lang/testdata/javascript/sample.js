#!/usr/bin/env node
'use strict';

const fs = require('fs');
const { join, resolve: absolute } = require('path');
const EventEmitter = require('events').EventEmitter;
import chalk, { red as danger } from 'chalk';
import * as zlib from 'zlib';
require('./setup');

/**
 * Default settings.
 * @type {object}
 */
const defaults = {
  port: 8080,
  logger: new Logger('app'),
  /** Builds the URL. */
  url(host) {
    return format(host, this.port);
  },
  close: function () {
    this.logger.flush();
  },
  open: async (target) => connect(target),
};

var counter = 0, cache = new Cache(100);
let server;

// Serves requests.
class Server extends EventEmitter {
  static VERSION = '1.0';
  #routes = new RouteTable();
  timeout = 30;
  onError = (error) => {
    this.log.error(error);
  };

  constructor(options, log = new Logger('server')) {
    super(options);
    const pool = new Pool(options.size);
    this.pool = pool;
    this.log = log;
    this.parser = options.parser || new Parser();
  }

  get address() {
    return this.socket.address();
  }

  static create(...args) {
    return new Server(...args);
  }

  async handle(request, response) {
    const connection = await this.pool.acquire();
    connection.query('select 1');
    const route = this.#routes.match(request.url);
    route.run(request, response);
    this.parser.parse(request.body);
    this.log.info('handled');
    this.emit('handled', request);
    super.emit('x');
    [1, 2].forEach((n) => n.toFixed());
    return response.end?.();
  }

  *pages(limit) {
    for (let page = 0; page < limit; page++) {
      yield* this.load(page);
    }
  }

  async *[Symbol.asyncIterator]() {
    for await (const chunk of this.stream()) {
      yield chunk.decode();
    }
  }

  #internal() {
    return Server.VERSION;
  }
}

/** Starts all. */
function start(options = {}) {
  const merged = Object.assign({}, defaults, options);
  server = Server.create(merged);
  server.listen(merged.port);
  const local = new Server(merged);
  local.handle(null, null);
  const { pool, log: logger } = local;
  pool.drain();
  logger.info(`port ${describe(merged.port)}`);
  cache.get('a');

  function onSignal(signal) {
    local.close();
    finish(signal);
  }

  const finish = (signal) => {
    process.exit(signal === 'SIGINT' ? 0 : 1);
  };

  process.on('SIGINT', onSignal);
  try {
    defaults.url('localhost');
    defaults.close();
  } catch ({ message, cause: reason }) {
    report(message, reason);
  } finally {
    chalk.green(danger('done'));
  }
  return new Promise((resolve, reject) => {
    local.once('ready', () => resolve(local));
  });
}

function Legacy(name) {
  this.name = name;
}

Legacy.prototype.greet = function greet(other) {
  this.wave();
  return other.name();
};

Legacy.prototype.wave = () => {};

Legacy.from = function (json) {
  return new Legacy(JSON.parse(json).name);
};

const arrow = async ({ id, items = [] }, [head, ...tail]) => {
  for (const item of items) {
    await item.save(id);
  }
  head.run(...tail);
};

const generator = function* named() {
  yield arrow({}, []);
};

const Anonymous = class extends Legacy {
  greet() {
    return super.greet(this);
  }
};

exports.stop = function (code) {
  fs.writeFileSync(join('a', absolute('b')), code);
};

module.exports.restart = async () => {
  await start();
  zlib.gzipSync('x');
};

if (require.main === module) {
  const running = start();
  running.then((s) => s.address);
}

(function main() {
  counter++;
  start();
})();

export { start as boot, Server };
export default function (value) {
  return value ?? arrow;
}

label: for (const key in defaults) {
  if (key.startsWith('x')) continue label;
}
