/* License text that documents nothing. */

import fs from "node:fs";
import * as path from "path";
import { Injectable, Inject as Use } from "@angular/core";
import type { User } from "./models/user";
import defaultClient, { Client, type Options } from "../client";
import "./polyfill";
import legacy = require("legacy-lib");
export * from "./errors";
export * as helpers from "./helpers";
export { format as render, parse } from "./text";

/** How many at once. */
export const MAX_PARALLEL = 8;
const registry = new Map<string, Handler>();
export let current: Session | undefined;
const { join, sep: separator } = path;
const first = 1, second = makeSecond();

export type ID = string | number;
export type Handler<T = unknown> = (event: Event<T>, next?: Handler) => Promise<void>;
type Shape = { name: string; owner: User; area(): number };
type Loaded = Partial<Settings>;

/** Severity of an event. */
export enum Level {
  Low,
  High = 10,
  Named = compute("x"),
}

declare const enum Flag { A = "a" }
declare function trace(message: string): void;
declare module "legacy-lib" {
  export function boot(options: Options): Legacy;
}

/**
 * A store of entities.
 */
export interface Store<T extends Entity, K = string> extends Reader<T>, lib.Closable {
  readonly size: number;
  cache?: Cache<T>;
  onChange: (entity: T) => void;
  get(key: K): T | undefined;
  put(entity: T, options?: Options): Promise<void>;
  new (name: string): Store<T>;
  (key: K): T;
}

namespace Geometry.Plane {
  export const ORIGIN = new Point(0, 0);
  export function distance(a: Point, b: Point): number {
    return a.minus(b).length();
  }
  export class Line {
    constructor(private from: Point) {}
    length() {
      return distance(this.from, ORIGIN);
    }
  }
}

// Keeps users.
@Injectable({ scope: "app" })
export abstract class UserStore<T extends User> extends BaseStore<T> implements Store<T>, OnInit {
  static readonly DEFAULT_NAME = "users";
  static instance?: UserStore<User>;
  #secret = new Secret();
  protected items: T[] = [];
  private readonly byName: Map<string, T> = new Map();
  client = new Client({ retries: 3 });
  handler: Handler;
  @Input() label!: Label;

  constructor(
    private readonly http: HttpClient,
    @Use(LOGGER) public log: Logger,
    plain: Plain,
    options: Options = defaults(),
  ) {
    super("users", options);
    this.wrapped = new Wrapper(plain);
    plain.check();
  }

  /** How many there are. */
  get count(): Counter {
    return this.counter.current();
  }

  set count(value: Counter) {
    value.reset();
  }

  find(id: number): T;
  find(id: string): T;
  @Memoize()
  @debounced
  async find(id: any): Promise<T> {
    const response = await this.http.get<User>(`/users/${encode(id)}`);
    const user = response.body as T;
    user.touch();
    this.byName.get("x")?.touch();
    this.items[0].touch();
    this.items.filter((item) => item.active()).forEach(function (item) { item.touch(); });
    for (const item of this.items) {
      item.touch();
    }
    for (const [name, entry] of Object.entries(this.items)) {
      join(name, separator);
    }
    return super.find(id) ?? this.fallback.resolve(id);
  }

  protected abstract load(key: string): Promise<T[]>;

  private handle = async (event: Event): Promise<void> => {
    event.stop();
    await this.log.info("handled", event);
    this.#secret.reveal();
  };

  static create(): UserStore<User> {
    const store = new MemoryStore();
    store.connect().then((session) => session.begin());
    const local: Session = store.session();
    local.begin();
    const { log, http: web, ...rest } = store as UserStore<User>;
    log.info("created");
    web.get("/");
    UserStore.instance = store;
    return UserStore.instance;
  }

  [Symbol.iterator]() {
    return this.items.values();
  }
}

class MemoryStore extends Mixin(UserStore) {
  async load(key: string) {
    return [key].map((k) => new Entry(k));
  }
}

/** Runs all. */
export async function runAll(jobs: Job[], { client, limit = 3 }: Settings, ...rest: Extra[]): Promise<void> {
  const queue = [...jobs];
  await Promise.all(jobs.map((job) => job.run(client)));
  client.close();
  rest[0].use();
  const made = createStore<User>(defaultClient);
  made.connect();
  const handler = registry.get("x");
  await handler(null!, undefined);
  handler!.bind(null);
  try {
    current?.close();
  } catch (error) {
    if (error instanceof Failure) error.report();
    throw new Failure("x", error);
  }
  const total = jobs.reduce((sum, job) => sum.plus(job.cost()), new Money(0));
  total.round();
  function nested(level: Level): string {
    return Level[level] + Level.High.toString();
  }
  const lazy = await import("./lazy");
  lazy.start(nested(Level.Low));
  fs.readFileSync(path.join("a", ...rest));
  legacy.boot({});
  (client as unknown as Special).special();
  let later;
  later = new Later();
  later.go();
}

export function overload(a: string): string;
export function overload(a: number): string;
export function overload(a: unknown): string {
  return String(a);
}

export const arrow = <T>(value: T): Box<T> => new Box(value);

/** Client of the API. */
export const api = {
  base: "/api",
  session: new Session(),
  load(id: ID) {
    return this.session.fetch(id);
  },
  save: async (user: User) => api.load(user.id()),
};

const helper = function* (n: number) {
  yield n;
};

function assertIsUser(value: unknown): asserts value is User {}

export default class extends UserStore<User> {
  load = async () => [];
}

export { helper, registry as handlers };
