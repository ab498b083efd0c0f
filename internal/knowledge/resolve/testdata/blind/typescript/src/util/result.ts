export abstract class Result<T, E = Error> {
  abstract map<U>(f: (value: T) => U): Result<U, E>;
  abstract unwrapOr(other: T): T;

  static ok<T>(value: T): Result<T, never> {
    return new Ok(value); //~ Ok result.ts:Ok.constructor
  }

  static async from<T>(work: () => Promise<T>): Promise<Result<T>> {
    try {
      return Result.ok(await work()); //~ ok result.ts:Result.ok; work -
    } catch (e) {
      return err(e as Error); //~ err result.ts:err
    }
  }
}

class Ok<T> extends Result<T, never> {
  constructor(private readonly value: T) {
    super(); //~ Result result.ts:Result
  }

  map<U>(f: (value: T) => U): Result<U, never> {
    return new Ok(f(this.value)); //~ Ok result.ts:Ok.constructor; f -
  }

  unwrapOr(_other: T): T {
    return this.value;
  }
}

class Err<E> extends Result<never, E> {
  constructor(readonly reason: E) {
    super(); //~ Result result.ts:Result
  }

  map<U>(): Result<U, E> {
    return this as unknown as Result<U, E>;
  }

  unwrapOr<T>(other: T): T {
    return other;
  }
}

export function err<E>(reason: E): Result<never, E> {
  return new Err(reason); //~ Err result.ts:Err.constructor
}
