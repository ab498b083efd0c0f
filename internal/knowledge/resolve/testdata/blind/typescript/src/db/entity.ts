export type Id = string;

let next = 0;

export default abstract class Entity {
  readonly id: Id;
  private changed = new Date();

  constructor(kind: string) {
    this.id = Entity.nextId(kind); //~ nextId entity.ts:Entity.nextId
  }

  static nextId(kind: string): Id {
    return [kind, next++].join("-"); //~ join -
  }

  touch(): void {
    this.changed = new Date();
  }

  toRow(): Record<string, unknown> {
    return { id: this.id, changed: this.changed.toISOString() }; //~ toISOString -
  }
}
