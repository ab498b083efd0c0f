export type Listener<T> = (event: T) => void;

export class Emitter<T> {
  private listeners: Listener<T>[] = [];

  on(listener: Listener<T>): () => void {
    this.listeners.push(listener);
    return () => this.off(listener);
  }

  off(listener: Listener<T>): void {
    this.listeners = this.listeners.filter((l) => l !== listener);
  }

  emit(event: T): void {
    for (const listener of this.listeners) listener(event);
    this.count();
  }

  protected count(): number {
    return this.listeners.length;
  }

  once(listener: Listener<T>): void {
    const stop = this.on((event) => {
      stop();
      listener(event);
    });
  }
}

export class ReplayEmitter<T> extends Emitter<T> {
  private last?: T;

  override emit(event: T): void {
    this.last = event;
    super.emit(event);
  }

  replay(): void {
    if (this.last) this.emit(this.last);
  }
}
